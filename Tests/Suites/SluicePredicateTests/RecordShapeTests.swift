import Foundation
import SluiceCore
import SluicePredicate
import SluiceTesting
import Testing

private enum Priority: String, Codable, CaseIterable { case low, high }
private enum Unlisted: String, Codable { case one }

private struct Address: Codable, Sendable {
    var street: String?
    var city: String
}

private struct Job: SyncRecord {
    static let tableName = "tasks"
    static let indexes: [[PropertyName]] = [["done", "due"]]
    static let references = [TableSchema.Reference("owner", to: "people", by: "ownerID")]
    var id: String?
    var title: String
    var done = false
    var rank: Int?
    var weight: Double = 0
    var due: Date?
    var ticket: UUID?
    var cost: Decimal = 0
    var priority = Priority.low
    var tags: [String] = []
    var address: Address?
    var ownerID: Int64?
    var version: String?
    var updatedAt: Timestamp?

    enum CodingKeys: String, CodingKey {
        case id, done, rank, weight, due, ticket, cost, priority, tags, address, version, updatedAt
        case title = "text"
        case ownerID = "owner_id"
    }
}

@Suite("A table from its record type")
struct RecordShapeTests {
    @Test("columns have the coding keys' names and the properties' types; id and system properties are no columns")
    func schema() throws {
        let schema = try TableSchema(Job.self)
        #expect(schema.name == "tasks" && schema.indexes == Job.indexes && schema.references == Job.references)
        let types = Dictionary(uniqueKeysWithValues: schema.columns.map { ($0.name.text, $0.type) })
        #expect(
            types == [
                "text": .string, "done": .boolean, "rank": .integer, "weight": .real, "due": .date, "ticket": .string,
                "cost": .real, "priority": .string, "tags": .json, "address": .json, "owner_id": .integer,
            ])
    }

    @Test("key paths find their columns, by other coding keys and into parts too")
    func paths() throws {
        let query = try TableQuery(
            Job.self, where: #Predicate { $0.title == "a" && !$0.done && $0.address?.city == "Ulm" && $0.ownerID == 1 })
        let text = try #require(query.filter).odata(.v4)
        for part in ["text eq 'a'", "address/city eq 'Ulm'", "owner_id eq 1", "not"] {
            #expect(text.contains(part), "\(text)")
        }
        #expect(Job.columns[\Job.title] == "text")
        #expect(Job.columns[\Job.address!.street] == "address/street")
        #expect(Job.columns[\Job.title.count] == nil)
    }

    /// Keys in another order than the properties, two of them with each other's names.
    private struct Crossed: SyncRecord {
        static let tableName = "crossed"
        var id: String?
        var first: String
        var last: String
        var text: String
        var title: String
        var since: Timestamp
        var next: [Crossed]
        var enabled: Bool?
        var level: Level

        enum Level: Int, Codable, CaseIterable { case one = 1, two }
        enum CodingKeys: String, CodingKey {
            case level = "l", enabled, next, since = "s", last = "z", first = "y", id, title = "text", text = "title"
        }
    }

    @Test("a property's column is the one whose value it takes, whatever names and order the keys have")
    func crossed() throws {
        let columns = Crossed.columns
        #expect(columns[\Crossed.first] == "y" && columns[\Crossed.last] == "z")
        #expect(columns[\Crossed.text] == "title" && columns[\Crossed.title] == "text")
        #expect(columns[\Crossed.since] == "s" && columns[\Crossed.level] == "l")
        #expect(columns[\Crossed.enabled] == "enabled" && columns[\Crossed.next] == "next")
        let schema = try TableSchema(Crossed.self)
        #expect(schema.column("s")?.type == .date && schema.column("l")?.type == .integer)
        #expect(schema.column("enabled")?.type == .boolean && schema.column("next")?.type == .json)
    }

    private struct Odd: SyncRecord {
        static let tableName = "odd"
        var id: String?
        var kind: Unlisted
    }

    private struct Stated: SyncRecord {
        static let tableName = "odd"
        static let columns: ColumnMap<Stated> = [\.kind: "kind"]
        var id: String?
        var kind: Unlisted
    }

    @Test(
        "a type that cannot be decoded from values without a meaning is refused by name; one that states columns is not"
    )
    func odd() throws {
        let error = #expect(throws: SluiceError.self) { try TableSchema(Odd.self) }
        #expect(error?.code == .invalidArgument && "\(error!)".contains("kind"))
        #expect(throws: SluiceError.self) { try TableQuery(Odd.self, where: #Predicate { $0.id == "a" }) }
        _ = try TableQuery(Stated.self).sorted(by: \Stated.kind)
    }

    @Test("conditions on key paths select, sort and limit; results give the records that do not fit as errors")
    func selection() async throws {
        let context = try await SyncContext(store: MemoryStore(), tables: [TableSchema(Job.self)])
        let tasks = try context.table(Job.self)
        try await tasks.insert([
            Job(id: "a", title: "milk", rank: 2), Job(id: "b", title: "bread", done: true, rank: 1),
            Job(id: "c", title: "tea", rank: 1, tags: ["hot", "new"], address: Address(city: "Ulm")),
            Job(id: "d", title: "salt"),
        ])
        func ids(_ selection: TableSelection<Job>) async throws -> [String?] { try await selection.records().map(\.id) }
        #expect(try await ids(tasks.where(\.done == false).order(by: \.rank, descending: true).limit(2)) == ["a", "c"])
        #expect(try await ids(tasks.where(\.rank >= 1 && !(\.title == "milk")).order(by: \.title)) == ["b", "c"])
        #expect(try await ids(tasks.where(\.rank == nil)) == ["d"])
        #expect(try await ids(tasks.where(\.address?.city == "Ulm")) == ["c"])
        #expect(try await ids(tasks.where(#Predicate { $0.done || $0.rank == 2 }).where(\.rank < 2)) == ["b"])
        #expect(try await ids(tasks.where(#Predicate { $0.tags.contains("new") })) == ["c"])
        #expect(try await ids(tasks.where(#Predicate { !$0.tags.contains("new") }).limit(1)) == ["a"])
        #expect(try await tasks.order(by: \.title).skip(1).first()?.id == "a")
        #expect(try await tasks.where(\.priority == .low).count() == 4)
        try await tasks.untyped.insert(["id": "e", "text": 5])
        #expect(try await tasks.order(by: \.id).limit(2).count() == 2)
        #expect(try await tasks.order(by: \.id).skip(4).limit(3).count() == 1)
        let misfit = await #expect(throws: SluiceError.self) { try await tasks.where(\.ownerID == nil).skip(4).first() }
        #expect(misfit?.code == .invalidRecord)
        let results = try await tasks.order(by: \.id).results()
        #expect(results.map { (try? $0.get())?.id } == ["a", "b", "c", "d", nil])
        await #expect(throws: SluiceError.self) { try await tasks.where(\.title.count == 4).records() }
    }
}
