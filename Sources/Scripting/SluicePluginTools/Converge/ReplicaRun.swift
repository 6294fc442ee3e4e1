internal import SluiceCore
internal import SluiceLua

/// A server and a few replicas that edit one record, push and pull in random order, until nothing is left to do.
struct ReplicaRun {
    /// A replica's copy of the record.
    struct Replica {
        /// The local record; nil if it is deleted.
        var record: JSON?
        /// The server's record that the change is based on.
        var base: JSON?
        var isChanged = false
        var isHeld = false
        /// The record that the server stored, although its answer was lost.
        var sent: JSON?
        var isUncertain = false
    }

    /// The number of consecutive sends of a change before the engine holds it.
    private static let rounds = 5

    let source: ConflictSource
    let dialect: Dialect
    var chance: SeededGenerator
    private(set) var server: JSON?
    private(set) var version = 1
    private(set) var replicas: [Replica]
    private(set) var isUnfinished = false
    /// Whether answers may be lost.
    private var losesAnswers = true
    private(set) var failure: PluginFailure?
    /// Descriptions of edits that had arrived and were added again.
    private(set) var doubled: [String] = []

    init(_ source: ConflictSource, dialect: Dialect, replicas count: Int, chance: SeededGenerator) {
        self.source = source
        self.dialect = dialect
        self.chance = chance
        var random = chance
        let first = source.record("1", using: &random)
        self.chance = random
        replicas = []
        server = stamped(first)
        replicas = Array(repeating: Replica(record: server, base: server), count: count)
    }

    /// Returns the server's version of the record after a write.
    private func stamped(_ record: JSON) -> JSON {
        var record = record
        record[dialect.columns.version] = JSON("v\(version)")
        record[dialect.columns.updatedAt] = JSON(
            FixtureWorld.begin.advanced(by: .seconds(version * 60)).description)
        return record
    }

    private mutating func write(_ record: JSON?) {
        version += 1
        server = record.map(stamped)
    }

    /// Plays edits, pushes and pulls, and then lets all replicas finish.
    mutating func play(_ judge: ConflictJudge) async {
        for _ in 0..<(replicas.count * 3) {
            let index = Int.random(in: replicas.indices, using: &chance)
            switch Int.random(in: 0..<20, using: &chance) {
            case 0..<9: edit(index)
            case 9: delete(index)
            case 10..<16: await push(index, judge)
            default: pull(index)
            }
        }
        losesAnswers = false
        // Each replica sends its change; a change overtaken by another is sent again.
        for _ in 0..<(replicas.count * 4) {
            for index in replicas.indices {
                await push(index, judge)
                pull(index)
            }
        }
        for index in replicas.indices { pull(index) }
        isUnfinished = replicas.contains { $0.isChanged && !$0.isHeld }
    }

    private mutating func edit(_ index: Int) {
        // While the outcome of a change is unknown, the next one waits after it.
        guard !replicas[index].isHeld, !replicas[index].isUncertain, let record = replicas[index].record else { return }
        replicas[index].record = source.edited(record, using: &chance)
        replicas[index].isChanged = true
    }

    private mutating func delete(_ index: Int) {
        guard !replicas[index].isHeld, !replicas[index].isUncertain, replicas[index].record != nil else { return }
        replicas[index].record = nil
        replicas[index].isChanged = true
    }

    private mutating func pull(_ index: Int) {
        guard !replicas[index].isChanged, !replicas[index].isHeld else { return }
        replicas[index].record = server
        replicas[index].base = server
    }

    private mutating func push(_ index: Int, _ judge: ConflictJudge) async {
        for round in 0..<Self.rounds {
            guard replicas[index].isChanged, !replicas[index].isHeld else { return }
            let isCurrent =
                replicas[index].base?[dialect.columns.version] == server?[dialect.columns.version]
            if isCurrent {
                if replicas[index].record != nil || server != nil { write(replicas[index].record) }
                // The answer may be lost: then the replica does not know the outcome of its change.
                if losesAnswers, Int.random(in: 0..<8, using: &chance) == 0 {
                    replicas[index].isUncertain = true
                    replicas[index].sent = server
                    return
                }
                return settle(index)
            }
            // The server's record is the one that was sent: no handler is called.
            if replicas[index].isUncertain, replicas[index].sent == server { return settle(index) }
            if round == Self.rounds - 1 { break }
            let conflict = conflict(index)
            let answer = await judge.answer(conflict)
            replicas[index].isUncertain = false
            if conflict.maybeApplied, let record = answer.decision?.given,
                let example = PluginConvergence.doubled(conflict, record)
            {
                doubled.append(example)
            }
            guard let decision = answer.decision else {
                failure = failure ?? answer.failure
                replicas[index].isHeld = true
                return
            }
            switch decision {
            case .server, .discard: return settle(index)
            case .delete:
                replicas[index].record = nil
                replicas[index].base = server
            case .client, .merge, .replace:
                replicas[index].record = decision.record(in: conflict)
                replicas[index].base = server
            case .defer, .ask, .abort, .next:
                replicas[index].isHeld = true
                return
            }
            // Another replica may be quicker with the next write.
            if Int.random(in: 0..<4, using: &chance) == 0 {
                let other = Int.random(in: replicas.indices, using: &chance)
                let isFree = other != index && replicas[other].isChanged && !replicas[other].isHeld
                let isOthersTurn =
                    replicas[other].base?[dialect.columns.version] == server?[dialect.columns.version]
                if isFree, isOthersTurn {
                    write(replicas[other].record)
                    settle(other)
                }
            }
        }
        replicas[index].isHeld = true
    }

    /// Takes over the server's record.
    private mutating func settle(_ index: Int) {
        replicas[index] = Replica(record: server, base: server)
    }

    private func conflict(_ index: Int) -> Conflict {
        let replica = replicas[index]
        let kind: TableOperation.Kind = replica.record == nil ? .delete : replica.base == nil ? .insert : .update
        var operation = TableOperation(
            id: "op-\(index)", sequence: Int64(index), table: source.table, recordID: "1", kind: kind,
            createdAt: FixtureWorld.begin)
        operation.attempts = 1
        return Conflict(
            operation: operation, client: replica.record, server: server, base: replica.base,
            maybeApplied: replica.isUncertain, status: 412, isDeletedOnServer: server == nil)
    }

    /// Whether all replicas without a held change have the server's record.
    var isEqual: Bool {
        replicas.allSatisfy { $0.isHeld || $0.record == server }
    }

    var isHeld: Bool { replicas.contains { $0.isHeld } }

    var words: String {
        let all = replicas.map { FixtureComparison.words($0.record) }.joined(separator: " | ")
        return "server \(FixtureComparison.words(server)), replicas \(all)"
    }
}
