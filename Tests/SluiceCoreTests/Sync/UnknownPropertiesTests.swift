import Testing

@testable import SluiceCore
@testable import SluiceTesting

@Suite("Properties that nobody declared")
struct UnknownPropertiesTests {
    private static let dialects: [Dialect] = [.azureV2, .azureV3, .datasync]
    private static let unknown: JSON = [
        "nested": ["a": [1, .null, ["b": "\u{0}é"]]], "big": 18_014_398_509_481_985, "empty": .object, "none": .null,
        "": "no name", "two words": 1.5,
    ]

    @Test("survive an edit of others, in every store and by every wire", arguments: StoreKind.allCases, dialects)
    func survive(_ kind: StoreKind, _ dialect: Dialect) async throws {
        let device = try await Device(
            kind, dialect: dialect, tables: [TableSchema("todos", columns: [.init("text", .string)])])
        var row = Self.unknown
        (row["id"], row["text"]) = ("1", "old")
        device.server.seed("todos", [row])
        try await device.todos.pull(named: "all")
        #expect(try await device.local("1") == row)
        try await device.todos.update(["id": "1", "text": "new"])
        try await device.todos.insert(["id": "2", "text": "made", "own": ["x": 1]])
        #expect(try await device.context.push().isClean)
        row["text"] = "new"
        #expect(device.remote("1") == row, "as the server has it")
        #expect(try await device.local("1") == row, "as it came back")
        #expect(device.remote("2") == ["id": "2", "text": "made", "own": ["x": 1]])
        let other = try await Device(kind, server: device.server, dialect: dialect)
        try await other.todos.pull(named: "all")
        #expect(try await other.local("1") == row)
        #expect(try await other.local("2")?["own"] == ["x": 1])
    }
}
