internal import SluiceCore

/// A statement's values as libpq takes them: texts that end in a zero byte, and the types of those whose type the
/// statement may not decide.
struct PostgresParameters {
    /// A letter for the kind of each value.
    private(set) var kinds = ""
    let count: Int
    private var bytes: [CChar] = []
    /// Where each text begins; nil for NULL.
    private var starts: [Int?] = []
    private var types: [UInt32] = []

    init(_ values: [SQLValue]) throws(PostgresFailure) {
        count = values.count
        for value in values {
            switch value {
            case .null: starts.append(nil)
            case .integer(let number): append(String(number))
            case .real(let number): append(String(number))
            case .text(let text):
                guard !text.utf8.contains(0) else {
                    throw PostgresFailure(
                        state: "22021", reason: "the text holds a character that PostgreSQL does not store")
                }
                append(text)
            case .blob: throw PostgresFailure(state: "22021", reason: "bytes are no value of a table")
            }
            switch value {
            // int8 and float8
            case .integer: (kinds, types) = (kinds + "i", types + [20])
            case .real: (kinds, types) = (kinds + "r", types + [701])
            default: (kinds, types) = (kinds + "t", types + [0])
            }
        }
        kinds += ":"
    }

    private mutating func append(_ text: String) {
        starts.append(bytes.count)
        for byte in text.utf8 { bytes.append(CChar(bitPattern: byte)) }
        bytes.append(0)
    }

    func withPointers<Result>(
        _ body: (_ texts: [UnsafePointer<CChar>?], _ types: [UInt32]) -> Result
    ) -> Result {
        bytes.withUnsafeBufferPointer { buffer in
            body(starts.map { start in start.flatMap { start in buffer.baseAddress.map { $0 + start } } }, types)
        }
    }
}
