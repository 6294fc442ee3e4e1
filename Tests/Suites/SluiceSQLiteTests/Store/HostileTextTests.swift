import SluiceCore
import SluiceSQLite
import SluiceTestSupport
import SluiceTesting
import Testing

@Suite("Hostile text in a SQLite store")
struct HostileTextTests {
    /// Names that no table and no declared column may have.
    private static func isName(_ text: String) -> Bool {
        !text.utf8.contains(0) && !["_extra", "_absent"].contains(text)
    }

    @Test("SQL in a table's name, a column's name, an id and a value is text", arguments: [true, false])
    func everywhere(isDeclared: Bool) async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: folder.file("store.db"))
        let names = HostileText.all.filter(Self.isName)
        let records = HostileText.all.enumerated().map { index, text -> JSON in
            JSON(members: [("id", JSON(text)), ("n", JSON(index))] + names.map { ($0, JSON(text)) })
        }
        // Some of the names for tables, and both forms of é.
        let tables = names.enumerated().filter { $0.offset % 6 == 0 || ["é"].contains($0.element) }.map(\.element)
        for name in tables {
            let column = PropertyName(name)
            let schema = TableSchema(name, columns: isDeclared ? [.init(column, .string), .init("n", .integer)] : [])
            try await store.define([schema])
            try await store.write { writer in for record in records { try writer.put(record, in: name) } }
            for text in HostileText.all {
                let query = TableQuery(
                    name, filter: .binary(.eq, .column(column), .literal(.string(text))),
                    order: [.init(column, descending: true), .init("n")], select: ["id", column])
                let expected = try TableQuery.Evaluator(query, schema: schema).apply(to: records)
                #expect(expected.count == 1)
                #expect(try await store.read { try $0.records(matching: query) } == expected, "\(name) eq \(text)")
            }
        }
        for name in tables {
            let all = try await store.read { try $0.records(matching: TableQuery(name)) }
            #expect(Set(all) == Set(records), "\(name)")
        }
        try await store.write { writer in for name in tables { try writer.delete(["' OR 1=1 --", "%"], from: name) } }
        for name in tables {
            #expect(try await store.read { try $0.count(matching: TableQuery(name)) } == records.count - 1, "\(name)")
        }
        try await store.close()
    }

    @Test("SQL in a text that functions look at is text")
    func functions() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: folder.file("store.db"))
        let schema = TableSchema("t", columns: [.init("text", .string)])
        try await store.define([schema])
        let records = HostileText.all.map { JSON(members: [("id", JSON($0)), ("text", JSON($0)), ("free", JSON($0))]) }
        try await store.write { writer in for record in records { try writer.put(record, in: "t") } }
        for text in HostileText.all {
            let literal = QueryExpression.literal(.string(text))
            for column in ["text", "free"] as [PropertyName] {
                let filters: [QueryExpression] = [
                    .call(.contains, [.column(column), literal]), .call(.startswith, [.column(column), literal]),
                    .binary(.eq, .call(.concat, [.column(column), literal]), .literal(.string(text + text))),
                    .membership(.column(column), [.string(text), .null]),
                    .binary(.gt, .call(.indexof, [.column(column), literal]), .literal(.number(JSON.Number(0)))),
                ]
                for filter in filters {
                    let query = TableQuery("t", filter: filter)
                    let expected = try TableQuery.Evaluator(query, schema: schema).apply(to: records)
                    let found = try await store.read { try $0.records(matching: query) }
                    #expect(found == expected, "\(filter)")
                }
            }
        }
        try await store.close()
    }
}
