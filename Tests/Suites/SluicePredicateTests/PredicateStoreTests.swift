import Foundation
import SluiceCore
import SluicePredicate
import SluiceSQLite
import Testing

/// Predicates asked of stores through typed tables: the rows are those for which Swift evaluates the predicate to true.
@Suite("Predicates in stores") struct PredicateStoreTests {
    struct Note: SyncRecord, Hashable {
        static let tableName = "notes"
        enum State: String, Codable { case open, closed }

        var id: String
        var text: String
        var label: String?
        var stars = 0
        var rank: Int?
        var weight = 0.0
        var done = false
        var agreed: Bool?
        var made = Date(timeIntervalSince1970: 0)
        var due: Date?
        var state = State.open

        static let columns: ColumnMap<Note> = [
            \.id: "id", \.text: "text", \.label: "label", \.stars: "stars", \.rank: "rank", \.weight: "weight",
            \.done: "done", \.agreed: "agreed", \.made: "made", \.due: "due", \.state: "state",
        ]
    }

    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case memory, sqlite, declared

        var testDescription: String { rawValue }

        func context() async throws -> SyncContext {
            let store: any LocalStore = self == .memory ? MemoryStore() : try SQLiteStore(path: ":memory:")
            let declared = TableSchema(
                "notes",
                columns: [
                    .init("text", .string), .init("label", .string), .init("stars", .integer), .init("rank", .integer),
                    .init("weight", .real), .init("done", .boolean), .init("agreed", .boolean), .init("made", .date),
                    .init("due", .date), .init("state", .string),
                ], indexes: [["stars"], ["text"], ["due"]])
            return try await SyncContext(store: store, tables: self == .declared ? [declared] : [])
        }
    }

    private static let texts = ["", "a", "A", "Ada", "ada", "it's 50% _", "größe", "日本", "a.b*c", "x\ny"]
    private static let day: TimeInterval = 86_400
    private static let start = Date(timeIntervalSince1970: 1_700_000_000.25)

    /// Values in many combinations, each optional absent in a third of the records.
    private static let notes: [Note] = (0..<60).map(note)

    private static func note(_ n: Int) -> Note {
        var note = Note(id: "n\(n)", text: texts[n % texts.count])
        if n % 3 != 0 {
            note.label = texts[(n * 7) % texts.count]
            note.due = start + Double(n % 7) * day
        }
        if n % 3 != 1 { note.rank = n % 5 }
        if n % 3 != 2 { note.agreed = n % 4 < 2 }
        note.stars = n % 9 - 3
        note.weight = Double(n % 8) / 4 - 0.5
        note.done = n % 2 == 0
        note.made = start + Double(n) * day / 2
        note.state = n % 5 == 0 ? .closed : .open
        return note
    }

    struct Case: Sendable {
        var name: String
        var predicate: Predicate<Note>

        init(_ name: String, _ predicate: Predicate<Note>) {
            self.name = name
            self.predicate = predicate
        }
    }

    private static let comparisons = [
        Case("==", #Predicate { $0.stars == 2 }), Case("!=", #Predicate { $0.stars != 2 }),
        Case("<", #Predicate { $0.stars < -1 }), Case("<=", #Predicate { $0.stars <= -1 }),
        Case(">", #Predicate { $0.weight > 0.25 }), Case(">=", #Predicate { $0.weight >= 0.25 }),
        Case("a double == a whole number", #Predicate { $0.weight == 1 }),
        Case("text ==", #Predicate { $0.text == "ada" }), Case("text <", #Predicate { $0.text < "a" }),
        Case("bool", #Predicate { $0.done }),
    ]

    private static let contents = [
        Case("contains", #Predicate { $0.text.contains("a") }),
        Case("contains %", #Predicate { $0.text.contains("%") }),
        Case("contains _", #Predicate { $0.text.contains("_") }),
        Case("contains '", #Predicate { $0.text.contains("'") }),
        Case("contains beyond ASCII", #Predicate { $0.text.contains("öß") }),
        Case("starts", #Predicate { $0.text.starts(with: "A") }),
        Case("isEmpty", #Predicate { $0.text.isEmpty }), Case("count", #Predicate { $0.text.count == 3 }),
    ]

    private static let optionals = [
        Case("== nil", #Predicate { $0.label == nil }), Case("!= nil", #Predicate { $0.rank != nil }),
        Case("== value", #Predicate { $0.label == "a" }), Case("!= value", #Predicate { $0.rank != 2 }),
        Case("?? number", #Predicate { ($0.rank ?? 9) > 3 }), Case("?? bool", #Predicate { $0.agreed ?? true }),
        Case("flatMap", #Predicate { $0.rank.flatMap { $0 >= 2 } ?? false }),
        Case("?.contains", #Predicate { $0.label?.contains("a") ?? false }),
        Case("?.starts != true", #Predicate { $0.label?.starts(with: "a") != true }),
    ]

    private static let logic = [
        Case("!comparison", #Predicate { !($0.stars > 1) }), Case("!bool", #Predicate { !$0.done }),
        Case("!optional", #Predicate { !($0.label == "a") }),
        Case("!flatMap", #Predicate { !($0.rank.flatMap { $0 > 1 } ?? false) }),
        Case("!contains", #Predicate { !$0.text.contains("a") }),
        Case("&&", #Predicate { $0.done && $0.stars > 0 }), Case("||", #Predicate { $0.done || $0.stars > 0 }),
        Case("&& of ||", #Predicate { ($0.done || $0.rank == nil) && ($0.text == "a" || !($0.stars < 0)) }),
        Case("! of && and ||", #Predicate { !(($0.done && $0.rank == nil) || $0.label == nil) }),
        Case("arithmetic", #Predicate { $0.stars * 2 + 1 > 3 }), Case("remainder", #Predicate { $0.stars % 2 == 0 }),
    ]

    /// About values of this function's.
    private static func locals() -> [Case] {
        let limit = 2
        let part = "da"
        let wanted: Set<String> = ["Ada", "größe", "it's 50% _"]
        let ranks = [1, 4]
        let other = notes[14]
        let label: String? = "a"
        let none: Int? = nil
        let state = Note.State.closed
        return [
            Case("local number", #Predicate { $0.stars > limit }),
            Case("local text", #Predicate { $0.text.contains(part) }),
            Case("local set", #Predicate { wanted.contains($0.text) }),
            Case("local list", #Predicate { ranks.contains($0.stars) }),
            Case("local record", #Predicate { $0.text == other.text && $0.stars >= other.stars }),
            Case("local optional", #Predicate { $0.label == label }),
            Case("local nil", #Predicate { $0.rank == none }), Case("local enum", #Predicate { $0.state == state }),
        ]
    }

    private static func dates() -> [Case] {
        let from = start + 3 * day
        let span = start..<(start + 10 * day)
        return [
            Case("date <", #Predicate { $0.made < from }), Case("date ==", #Predicate { $0.made == from }),
            Case("date range", #Predicate { span.contains($0.made) }),
            Case("date == nil", #Predicate { $0.due == nil }),
            Case("optional date ==", #Predicate { $0.due == from }),
            Case("optional date !=", #Predicate { $0.due != from }),
            Case("optional date >", #Predicate { $0.due.flatMap { $0 > from } ?? false }),
            Case("date and number", #Predicate { $0.made >= from && $0.stars <= 2 }),
        ]
    }

    @Test("the rows are those that Swift finds, outside of a transaction and in one", arguments: Kind.allCases)
    func rows(_ kind: Kind) async throws {
        let context = try await kind.context()
        try await context.write { transaction in
            let table = try transaction.table(Note.self)
            for note in Self.notes { try table.insert(note) }
        }
        let table = try context.table(Note.self)
        #expect(try await Set(table.records()) == Set(Self.notes))
        for item in Self.comparisons + Self.contents + Self.optionals + Self.logic + Self.locals() + Self.dates() {
            let (name, predicate) = (item.name, item.predicate)
            let expected = try Set(Self.notes.filter { try predicate.evaluate($0) })
            // Found by all or by none, a predicate would test nothing.
            #expect(!expected.isEmpty && expected.count < Self.notes.count, "\(name)")
            let found = try await table.records(where: predicate)
            #expect(Set(found) == expected && found.count == expected.count, "\(name)")
            #expect(try await table.count(where: predicate) == expected.count, "\(name)")
            let inside = try await context.write { transaction in
                let table = try transaction.table(Note.self)
                return (try table.records(where: predicate), try table.count(where: predicate))
            }
            #expect(Set(inside.0) == expected && inside.1 == expected.count, "\(name) in a transaction")
        }
    }

    @Test(
        "a transaction's table reads what was written so far, changes one property and counts", arguments: Kind.allCases
    )
    func transaction(_ kind: Kind) async throws {
        let context = try await kind.context()
        let left = try await context.write { transaction in
            let table = try transaction.table(Note.self)
            for note in Self.notes { try table.insert(note) }
            let open = try table.count(where: #Predicate { !$0.done })
            #expect(open == Self.notes.count { !$0.done })
            for note in try table.records(where: #Predicate { !$0.done && $0.stars > 0 }) {
                let changed = try table.update(id: note.id, set: \.done, to: true)
                #expect(changed.done && changed.text == note.text)
            }
            try table.update(id: "n1", set: \.label, to: nil)
            #expect(try table.lookup(id: "n1")?.label == nil)
            #expect(try table.count() == Self.notes.count)
            #expect(
                try table.count(matching: TableQuery("others").where(column("stars") > 0))
                    == Self.notes.count { $0.stars > 0 })
            return try table.count(where: #Predicate { !$0.done })
        }
        #expect(left == Self.notes.count { !$0.done && $0.stars <= 0 })
        let error = await #expect(throws: SluiceError.self) {
            try await context.write { transaction in
                let table = try transaction.table(Note.self)
                try table.update(id: "n2", set: \.stars, to: 99)
                try table.update(id: "nobody", set: \.stars, to: 1)
            }
        }
        #expect(error?.code == .recordMissing)
        #expect(try await context.table(Note.self).lookup(id: "n2") == Self.notes[2], "all of it or nothing")
    }
}
