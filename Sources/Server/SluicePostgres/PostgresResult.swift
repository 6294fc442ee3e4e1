internal import CLibPQ
package import SluiceCore

/// The result rows of a statement.
package final class PostgresResult {
    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { PQclear(pointer) }

    var status: ExecStatusType { PQresultStatus(pointer) }

    /// The command with the number of changed rows: `UPDATE 3`.
    var command: String { PQcmdStatus(pointer).map { String(cString: $0) } ?? "" }

    /// The number of rows changed by the statement.
    package var changed: Int { PQcmdTuples(pointer).flatMap { Int(String(cString: $0)) } ?? 0 }

    /// Whether this is the result of a successful commit.
    package var isCommit: Bool { command == "COMMIT" }

    /// The failure of the statement.
    var failure: PostgresFailure {
        func field(_ code: Character) -> String? {
            PQresultErrorField(pointer, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
        }
        return PostgresFailure(state: field("C"), reason: field("M") ?? "the connection failed")
    }

    package var count: Int { Int(PQntuples(pointer)) }
    var columnCount: Int { Int(PQnfields(pointer)) }

    package func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(pointer, index(row), index(column)) == 1 }

    /// Returns the value's text; nil for NULL.
    package func text(_ row: Int, _ column: Int) -> String? {
        withText(row, column) { String(decoding: $0, as: UTF8.self) }
    }

    package func integer(_ row: Int, _ column: Int) -> Int64? { text(row, column).flatMap { Int64($0) } }

    package func double(_ row: Int, _ column: Int) -> Double? { text(row, column).flatMap { Double($0) } }

    /// Returns the number of bytes of all values of the row.
    package func bytes(_ row: Int) -> Int {
        (0..<columnCount).reduce(0) { $0 + Int(PQgetlength(pointer, index(row), index($1))) }
    }

    /// The number of bytes of all values.
    package var bytes: Int { (0..<count).reduce(0) { $0 + bytes($1) } }

    /// Passes the bytes of the value's text, valid only for the call; nil for NULL.
    package func withText<Result>(
        _ row: Int, _ column: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result? {
        guard !isNull(row, column), let text = PQgetvalue(pointer, index(row), index(column)) else { return nil }
        let count = Int(PQgetlength(pointer, index(row), index(column)))
        return try text.withMemoryRebound(to: UInt8.self, capacity: count) {
            try body(UnsafeBufferPointer(start: $0, count: count))
        }
    }

    package func value(_ row: Int, _ column: Int) -> SQLValue {
        guard let text = text(row, column) else { return .null }
        switch PQftype(pointer, index(column)) {
        // int8, int2, int4
        case 20, 21, 23: return Int64(text).map { .integer($0) } ?? .null
        // bool
        case 16: return .integer(text == "t" ? 1 : 0)
        // float4, float8
        case 700, 701: return Double(text).map { .real($0) } ?? .null
        default: return .text(text)
        }
    }

    package var rows: [[SQLValue]] {
        (0..<count).map { row in (0..<columnCount).map { value(row, $0) } }
    }

    private func index(_ number: Int) -> Int32 { Int32(truncatingIfNeeded: number) }
}
