import SluiceCore
import Testing

@testable import SluiceBackend

@Suite struct KnownPropertiesTests {
    /// A connection that counts what it is asked.
    private final class Counting: StorageConnection {
        var statements = 0
        var known: [SQLValue] = []

        func run(_ sql: String, _ values: [SQLValue]) throws -> [[SQLValue]] {
            statements += 1
            if sql.hasPrefix("INSERT") { known.append(values[1]) }
            return sql.hasPrefix("SELECT") ? known.map { [$0] } : []
        }

        func makeNumber() -> Int64 { 0 }
        func latestPoint() -> HistoryPoint { HistoryPoint(epoch: 0, number: 0) }
        func makeTime(of table: String, now: Timestamp) -> Timestamp { now }
        func settle() {}
        func records(_ schema: TableSchema) throws -> any RecordStorage { throw CancellationError() }
    }

    @Test("a record of many properties costs no statement for each")
    func many() throws {
        let connection = Counting()
        let names = (0..<30_000).map { PropertyName("p\($0)") }
        try KnownProperties.note(names, of: "t", connection)
        #expect(connection.known.count == KnownProperties.most)
        #expect(connection.statements <= KnownProperties.most + 1)
        connection.statements = 0
        try KnownProperties.note(names, of: "t", connection)
        #expect(connection.statements == 1)
    }
}
