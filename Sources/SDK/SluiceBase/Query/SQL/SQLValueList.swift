/// A list of values as one bound value, because a statement limits their number.
enum SQLValueList {
    /// Returns each value as a letter for its kind, its length in 8 bytes, and its bytes.
    static func blob(_ values: [SQLValue]) -> SQLValue {
        var output: [UInt8] = []
        for value in values {
            let (kind, bytes): (Unicode.Scalar, [UInt8]) =
                switch value {
                case .null: ("n", [])
                case .integer(let number): ("i", SQLValue.bytes(UInt64(bitPattern: number)))
                case .real(let number): ("r", SQLValue.bytes(number.bitPattern))
                case .text(let text): ("t", Array(text.utf8))
                case .blob(let bytes): ("b", bytes)
                }
            output.append(UInt8(ascii: kind))
            output += SQLValue.bytes(UInt64(bytes.count))
            output += bytes
        }
        return .blob(output)
    }

    /// Returns the values of such a list, as far as it can be read.
    static func values(_ list: [UInt8]) -> [SQLValue] {
        var values: [SQLValue] = []
        var rest = list[...]
        while rest.count >= 9 {
            let count = SQLValue.number(rest.dropFirst().prefix(8))
            let kind = rest[rest.startIndex]
            rest = rest.dropFirst(9)
            guard count <= UInt64(rest.count) else { break }
            let bytes = rest.prefix(Int(count))
            rest = rest.dropFirst(Int(count))
            switch Unicode.Scalar(kind) {
            case "i": values.append(.integer(Int64(bitPattern: SQLValue.number(bytes))))
            case "r": values.append(.real(Double(bitPattern: SQLValue.number(bytes))))
            case "t": values.append(.text(String(decoding: bytes, as: UTF8.self)))
            case "b": values.append(.blob(Array(bytes)))
            default: values.append(.null)
            }
        }
        return values
    }
}
