import Foundation
import SluiceCore
import SluiceSQLite
import Testing

@testable import SluiceBase
@testable import SluicePredicate
@testable import SluiceSync

@Suite("Typed tables: ids in other letters, newer properties, times")
struct TypedRecordTests {
    struct Item: SyncRecord, Hashable {
        static let tableName = "items"
        static let columns: ColumnMap<Item> = [\.id: "id", \.n: "n"]
        var id: UUID?
        var n: Int
    }

    private func context() async throws -> SyncContext { try await SyncContext(store: MemoryStore()) }

    @Test("the record of an insert without an id is updated, found and deleted by its UUID in any letters")
    func uuids() async throws {
        let context = try await context()
        let items = try context.table(Item.self)
        var item = try await items.insert(Item(n: 1))
        let id = try #require(item.id)
        #expect(try await context.table("items").lookup(id: id.uuidString.lowercased()) != nil)
        item.n = 2
        #expect(try await items.update(item) == item)
        #expect(try await items.lookup(id: id.uuidString)?.n == 2)
        #expect(try await items.lookup(id: id)?.n == 2)
        #expect(try await items.records(where: #Predicate { $0.id == id }).count == 1)
        try await items.update(id: id.uuidString, set: \.n, to: 3)
        try await context.write { try $0.table(Item.self).update(id: id.uuidString) { $0.n += 1 } }
        #expect(try await items.lookup(id: id)?.n == 4)
        try await items.delete(id: id.uuidString)
        #expect(try await items.count() == 0)
    }

    @Test("an id that the store has in capitals stays as it is")
    func capitals() async throws {
        let context = try await context()
        let id = UUID()
        try await context.table("items").insert(["id": JSON(id.uuidString), "n": 1])
        let items = try context.table(Item.self)
        var item = try #require(try await items.lookup(id: id))
        item.n = 2
        try await items.update(item)
        #expect(try await context.table("items").records() == [["id": JSON(id.uuidString), "n": 2]])
        try await items.delete(id: id)
        #expect(try await items.count() == 0)
    }

    @Test("a change of nothing but the id is none")
    func idAlone() async throws {
        let items = try await context().table(Item.self)
        let item = try await items.insert(Item(id: UUID(), n: 1))
        let id = try #require(item.id)
        #expect(try await items.update(id: id) { $0.id = UUID() } == item)
    }

    struct Old: SyncRecord {
        static let tableName = "todos"
        var id: String?
        var text: String
    }
    struct New: SyncRecord, Hashable {
        static let tableName = "todos"
        static let defaults: New? = New(text: "", level: 3, tags: ["new"])
        var id: String?
        var text: String
        var level: Int
        var note: String?
        var tags: [String]
    }
    struct Listed: SyncRecord {
        static let tableName = "todos"
        var id: String?
        var text: String
        var tags: [String] = []
        var names: [String: Int] = [:]
    }
    struct Strict: SyncRecord {
        static let tableName = "todos"
        var id: String?
        var level: Int
    }

    @Test("a record without a newer property has its default, and an update of another one writes none")
    func defaults() async throws {
        let context = try await context()
        let id = try #require(try await context.table(Old.self).insert(Old(text: "old")).id)
        let news = try context.table(New.self)
        let expected = New(id: id, text: "old", level: 3, tags: ["new"])
        #expect(try await news.records() == [expected])
        try await news.update(id: id, set: \.text, to: "newer")
        var record = try #require(try await news.lookup(id: id))
        record.note = "n"
        try await news.update(record)
        #expect(try await context.table("todos").records() == [["id": JSON(id), "text": "newer", "note": "n"]])
        // A server writes null for a column that is newer than the row.
        try await context.table("todos").update(["id": JSON(id), "level": .null, "tags": .null])
        #expect(try await news.lookup(id: id)?.level == 3)
        #expect(try await context.table(Listed.self).lookup(id: id)?.tags == [])
    }

    @Test("one record that does not fit is reported beside the others")
    func misfits() async throws {
        let context = try await context()
        try await context.table("todos").insert(["id": "1", "text": "old"])
        let table = try context.table(Strict.self)
        var updates = table.observe().makeAsyncIterator()
        let first = try await updates.next()
        #expect(first?.records.isEmpty == true && first?.misfits.map(\.recordID) == ["1"])
        try await table.insert(Strict(id: "2", level: 1))
        let second = try await updates.next()
        #expect(second?.records.map(\.level) == [1] && second?.misfits.count == 1)
        #expect(second?.diff.inserted.map(\.index) == [0], "the indexes are those of the records")
        #expect(try await table.records().map(\.id) == ["2"])
        let misfits = try await table.misfits()
        #expect(
            misfits.map(\.description) == [
                "the local record does not fit Strict (table todos, record 1): level is missing"
            ])
        #expect(try await context.write { try $0.table(Strict.self).records().count } == 1)
        #expect(try await context.write { try $0.table(Strict.self).misfits().count } == 1)
    }

    struct Dated: SyncRecord {
        static let tableName = "dates"
        var id: String?
        var when: Date
        var text = ""
    }

    @Test("a date that is read and written is the same, in all years, and no other change writes it", arguments: 0..<5)
    func dates(_ index: Int) async throws {
        let seconds: [ClosedRange<Double>] = [-2e9...(-1e9), 0...1e9, 1.7e9...1.9e9, 2.2e9...2.3e9, 4e9...5e9]
        var chance = SeededGenerator(seed: UInt64(index))
        let table = try await context().table(Dated.self)
        for _ in 0..<200 {
            let microseconds = Double.random(in: seconds[index], using: &chance) * 1e6
            let time = Timestamp(ticks: try #require(Int64(nearest: microseconds)) * 10)
            let text = JSON(time.text(fractionDigits: 7))
            let date = try #require(Date(json: text))
            #expect(date.json.flatMap { $0.string.flatMap { Timestamp($0) } } == time)
            var dated = try await table.insert(Dated(when: date))
            dated.text = "x"
            #expect(try await table.update(dated).when == date)
        }
        try await table.untyped.insert(["id": "fine", "when": "2024-01-31T10:00:00.1234567Z", "text": ""])
        var fine = try #require(try await table.lookup(id: "fine"))
        fine.text = "x"
        try await table.update(fine)
        #expect(try await table.untyped.lookup(id: "fine")?["when"] == "2024-01-31T10:00:00.1234567Z")
    }

    struct Person: SyncRecord {
        struct Address: Codable, Hashable { var city: String }
        static let tableName = "people"
        static let columns: ColumnMap<Person> = [\.address.city: "address/city", \.n: "n"]
        var id: String?
        var n: Int
        var address: Address
    }

    @Test("a part of a property is asked for by its way, and cannot be selected", arguments: [true, false])
    func parts(_ isFile: Bool) async throws {
        let context = try await SyncContext(store: isFile ? SQLiteStore(path: ":memory:") : MemoryStore())
        let people = try context.table(Person.self)
        for n in 0..<4 { try await people.insert(Person(n: n, address: .init(city: n % 2 == 0 ? "Rome" : "Oslo"))) }
        #expect(try await people.records(where: #Predicate { $0.address.city == "Rome" }).count == 2)
        let sorted = try TableQuery("people").sorted(by: \Person.address.city).sorted(by: \Person.n)
        #expect(try await people.records(matching: sorted).map(\.n) == [1, 3, 0, 2])
        #expect(throws: SluiceError.self) { try TableQuery("people").selecting(\Person.address.city) }
    }
}
