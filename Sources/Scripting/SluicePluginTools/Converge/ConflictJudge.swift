internal import SluiceCore
internal import SluiceLua

/// Asks a plugin about generated conflicts.
struct ConflictJudge {
    let rig: PluginRig
    let hook: HookPlan
    let check: RecordCheck

    /// The plugin's answer.
    struct Answer {
        /// The decision; nil if the plugin failed.
        var decision: ConflictDecision?
        var failure: PluginFailure?
        /// The raw answer, for comparing two.
        var raw: JSON?

        var name: String {
            switch decision {
            case .server?: "server"
            case .client?: "client"
            case .merge?, .replace?: "merge"
            case .delete?: "delete"
            case .discard?: "discard"
            case .defer?: "defer"
            case .ask?: "ask"
            case .abort?: "abort"
            case .next?: "next"
            case nil: "failure"
            }
        }
    }

    func answer(_ conflict: Conflict) async -> Answer {
        let document = ConflictDocument(conflict: conflict, check: check)
        let call = HookCall(
            plan: hook, arguments: [LuaArgument("conflict", document.json)], table: conflict.table,
            recordID: conflict.recordID
        ) { result in
            let read = try document.decision(result)
            let raw = result.value ?? .null
            return HookAnswer(Judged(decision: read.value as? ConflictDecision ?? .next, raw: raw), read.name)
        }
        let run = await rig.run(call)
        guard let judged = run.answer?.value as? Judged else { return Answer(failure: run.failure) }
        return Answer(decision: judged.decision, raw: judged.raw)
    }

    private struct Judged: Sendable {
        var decision: ConflictDecision
        var raw: JSON
    }
}

/// A generator of records. Their fields and values come from a table's columns, or from the fixtures of the plugin.
struct ConflictSource: Sendable {
    /// The table of the conflicts.
    let table: String
    private let fields: [(name: PropertyName, values: [JSON])]

    /// The names of the fields.
    var names: [PropertyName] { fields.map(\.name) }

    /// Generates records from a table's columns.
    init(_ schema: TableSchema) {
        table = schema.name
        fields = schema.columns.map { ($0.name, Self.values(of: $0.type)) }
    }

    /// Generates records like the conflicts in a bundle's fixtures; nil if it has none.
    init?(_ bundle: PluginBundle, _ dialect: Dialect) {
        var table: String?
        var values: [PropertyName: [JSON]] = [:]
        var names: [PropertyName] = []
        for path in bundle.fixtures {
            guard let fixture = try? bundle.fixture(at: path), fixture.hook == .onConflict,
                let conflict = fixture.given.value["conflict"]
            else { continue }
            table = table ?? conflict["table"]?.string
            for side in ["client", "server", "base"] {
                for (name, value) in conflict[side]?.members ?? [] where name != "id" && !dialect.isSystemProperty(name)
                {
                    if values[name] == nil { names.append(name) }
                    if !(values[name] ?? []).contains(value) { values[name, default: []].append(value) }
                }
            }
        }
        guard !names.isEmpty else { return nil }
        self.table = table ?? "todo"
        fields = names.sorted().map { name in (name, Self.more(values[name] ?? [])) }
    }

    /// Returns the values and similar ones, so that two sides can differ.
    private static func more(_ values: [JSON]) -> [JSON] {
        guard let kind = values.first(where: { !$0.isNull })?.kind else { return values + ["a", "b"] }
        switch kind {
        case .number: return values + [0, 1, 2, 3, 10, -1]
        case .bool: return [true, false]
        case .string where values.contains { $0.string.flatMap { Timestamp($0) } != nil }:
            return values + (1...4).map { JSON("2025-12-0\($0)T10:00:00.000Z") }
        case .string: return values + ["a", "b", "line 1\nline 2"]
        case .array: return values + [.array, ["a"], ["b", "a"]]
        case .object, .null: return values
        }
    }

    private static func values(of type: TableSchema.ColumnType) -> [JSON] {
        switch type {
        case .string: ["a", "b", "milk", "oat milk", "", "line 1\nline 2"]
        case .integer: [0, 1, 2, 3, 10, -1]
        case .real: [0, 0.5, 1.5, -2, 100]
        case .boolean: [true, false]
        case .date: (1...5).map { JSON("2025-12-0\($0)T10:00:00.000Z") }
        case .json: [.object, ["a": 1], ["a": 2], .array, ["x"]]
        }
    }

    /// Returns a record of that id, with a value for most fields.
    func record(_ id: String, using chance: inout SeededGenerator) -> JSON {
        var record: JSON = ["id": JSON(id)]
        for (name, values) in fields where Int.random(in: 0..<8, using: &chance) > 0 {
            record[name] = values.randomElement(using: &chance)
        }
        return record
    }

    /// Returns the record after an edit of one or more fields.
    func edited(_ record: JSON, using chance: inout SeededGenerator) -> JSON {
        var record = record
        for _ in 0...Int.random(in: 0..<3, using: &chance) {
            guard let field = fields.randomElement(using: &chance) else { break }
            record[field.name] = field.values.randomElement(using: &chance)
        }
        return record
    }
}
