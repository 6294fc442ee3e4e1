/// The order of a push's operations: pure bookkeeping over the queue as it was read.
///
/// The queue's order always holds per record. Parents and children follow the declared dependencies, and a group starts
/// as one. A waiting operation is filed under one of its blockers and checked again when that one has ended, so that
/// the cost per operation does not grow with the queue. An operation that stays in the queue after an attempt *bars*
/// the operations waiting for it: this push does not send them. Nothing else waits for it.
struct PushSchedule: Sendable {
    private struct Node {
        let operation: QueuedOperation
        /// The first operation of its group, or itself.
        let leader: Int64
        /// The leaders of the units that wait for this operation.
        var waiters: [Int64] = []
        var bar: Bar?
        var isRunning = false
    }

    /// The reason why an operation is not sent by this push.
    private enum Bar {
        /// It, or an operation that it waits for, stays in the queue.
        case stays
        /// It belongs to another user, or waits only for such operations.
        case isOfOthers
    }

    /// The operations that begin together: a group, or a single operation.
    private struct Unit {
        var members: [Int64]
        var rounds = 0
        var isReady = false
        /// Whether it was part of a circular wait and goes ahead regardless.
        var isForced = false
    }

    private enum Standing {
        case ready
        case barred(Bar)
        case waits(for: Int64)
    }

    private let dependencies: PushDependencies
    let selection: PushSelection
    private var nodes: [Int64: Node] = [:]
    private var units: [Int64: Unit] = [:]
    private var leaders: [String: Int64] = [:]
    private var index: PushDependencies.Index
    /// The leaders of the units that may begin, the next one last.
    private var ready: [Int64] = []
    private var running: Set<Int64> = []
    /// The number of known operations that are not barred.
    private(set) var open = 0
    /// The ids of operations that were started too often without an outcome.
    private(set) var abandoned: Set<String> = []

    init(dependencies: [TableDependency], selection: PushSelection) {
        self.dependencies = PushDependencies(dependencies)
        self.selection = selection
        index = PushDependencies.Index()
    }

    /// Returns the last place of the known, unfinished operations; 0 if there are none. Records with the given hashes
    /// are ignored, because a decision may have removed their operations.
    func lastPlace(except decided: Set<Int>) -> Int64 {
        nodes.reduce(0) { decided.contains($1.value.operation.key.hashValue) ? $0 : max($0, $1.key) }
    }

    /// Whether the operation is known and unfinished.
    func knows(_ operation: QueuedOperation) -> Bool { nodes[operation.sequence]?.operation.id == operation.id }

    /// Whether an operation is running.
    var isRunning: Bool { !running.isEmpty }

    /// Whether more operations must be read to fill the pace. Operations that wait for a running one, such as many on
    /// one record, need not all be known.
    func needsMore(_ pace: PushPace, _ part: Int) -> Bool {
        if pace.inRounds, isRunning { return false }
        guard ready.count < pace.atOnce - running.count else { return false }
        return open < max(part, 2 * pace.atOnce) || (ready.isEmpty && !isRunning)
    }

    /// Returns the record of a known, unfinished operation.
    func key(of place: Int64) -> RecordKey? { nodes[place]?.operation.key }

    /// Whether operations of that group are known.
    func knows(_ group: String) -> Bool { leaders[group] != nil }

    /// Whether the delete of a parent follows changes of its children among newly queued operations. Most of these are
    /// left for the next push, and so is the delete then.
    func waits(_ operation: QueuedOperation, forOthersOf others: [QueuedOperation]) -> Bool {
        operation.kind == .delete && operation.group == nil
            && others.contains { dependencies.places($0, before: operation) }
    }

    /// Adds operations whose places follow all known ones.
    mutating func add(_ operations: [QueuedOperation]) {
        var added: Set<Int64> = []
        for operation in operations {
            let place = operation.sequence
            // A former operation at this place has left the queue.
            remove(place)
            var leader = place
            if let group = operation.group {
                leader = leaders[group] ?? place
                leaders[group] = leader
            }
            let isOthers = !selection.isOfUser(operation)
            let isBarred = operation.isHeld || isOthers || !selection.admits(operation)
            let bar: Bar? = isOthers ? .isOfOthers : isBarred ? .stays : nil
            nodes[place] = Node(operation: operation, leader: leader, bar: bar)
            if !isBarred { open += 1 }
            units[leader, default: Unit(members: [])].members.append(place)
            index.add(operation)
            added.insert(leader)
        }
        for leader in added.sorted(by: >) {
            if let tags = selection.tags { excludeUnless(tags, leader) }
            look(at: leader)
        }
    }

    /// Bars the unit if none of its members has one of the tags.
    private mutating func excludeUnless(_ tags: Set<String>, _ leader: Int64) {
        let members = units[leader]?.members ?? []
        let isSelected = members.contains { place in
            nodes[place].map { !$0.operation.tags.isDisjoint(with: tags) } ?? false
        }
        if !isSelected { for place in members { bar(place) } }
    }

    /// Begins the operations that may begin now, and returns them in the order for a batch.
    mutating func start(_ pace: PushPace) -> [QueuedOperation] {
        guard !pace.inRounds || running.isEmpty else { return [] }
        if ready.isEmpty, running.isEmpty { breakCircle() }
        var started: [QueuedOperation] = []
        while running.count < pace.atOnce, let leader = ready.last {
            let members = units[leader]?.members ?? []
            // A group that exceeds the remaining pace waits until it can run alone.
            guard running.isEmpty || running.count + members.count <= pace.atOnce else { break }
            ready.removeLast()
            units[leader]?.isReady = false
            units[leader]?.rounds += 1
            for place in ordered(members) {
                guard var operation = nodes[place]?.operation else { continue }
                nodes[place]?.isRunning = true
                running.insert(place)
                operation.knownMakers = Set(operation.parents.flatMap(index.makers))
                started.append(operation)
            }
        }
        return started
    }

    /// Counts the operations that a push sends if each is applied. The schedule is empty of them afterwards.
    mutating func countOfSent() -> Int {
        var count = 0
        while true {
            let started = start(PushPace(atOnce: .max, inRounds: false))
            if started.isEmpty { return count }
            count += started.count
            for operation in started { end(operation.sequence, .done) }
        }
    }

    /// Notes the outcome of an operation.
    mutating func end(_ place: Int64, _ outcome: OperationSession.Outcome) {
        guard let leader = nodes[place]?.leader else { return }
        running.remove(place)
        nodes[place]?.isRunning = false
        switch outcome {
        case .done: remove(place)
        case .kept, .stopped: bar(place)
        case .again, .skipped: break
        }
        guard let unit = units[leader], !unit.members.contains(where: { nodes[$0]?.isRunning == true }) else { return }
        let isStuck = unit.rounds > Self.maximumRounds + unit.members.count
        if isStuck { abandoned.formUnion(unit.members.compactMap { nodes[$0]?.operation.id }) }
        if isStuck || unit.members.contains(where: { nodes[$0]?.bar != nil }) {
            for member in unit.members { bar(member) }
        } else {
            look(at: leader)
        }
    }

    /// The number of starts of an operation or a group in one push. A conflict has fewer rounds, so this only limits
    /// servers that skip an operation again and again.
    private static let maximumRounds = 3 * OperationSession.maximumRounds

    private mutating func remove(_ place: Int64) {
        guard let node = nodes.removeValue(forKey: place) else { return }
        if node.bar == nil { open -= 1 }
        index.remove(node.operation)
        units[node.leader]?.members.removeAll { $0 == place }
        if units[node.leader]?.members.isEmpty == true { units[node.leader] = nil }
        for waiter in node.waiters { look(at: waiter) }
    }

    /// Bars an operation, and all that wait for it, for the rest of the push.
    private mutating func bar(_ place: Int64, _ bar: Bar = .stays) {
        var places = [place]
        while let place = places.popLast() {
            guard let node = nodes[place], node.bar == nil else { continue }
            nodes[place]?.bar = bar
            nodes[place]?.waiters = []
            open -= 1
            for waiter in node.waiters {
                guard let unit = units[waiter], !unit.isReady, !unit.members.contains(where: running.contains) else {
                    continue
                }
                if case .barred(bar) = standing(of: unit) {
                    places += unit.members
                } else {
                    look(at: waiter)
                }
            }
        }
    }

    /// Files the unit under its blocker, or among the ready units.
    private mutating func look(at leader: Int64) {
        guard let unit = units[leader], !unit.isReady, !unit.members.contains(where: running.contains) else { return }
        switch standing(of: unit) {
        case .ready:
            units[leader]?.isReady = true
            // The next one stands last, and most units arrive in that order already.
            var place = ready.count
            while place > 0, ready[place - 1] < leader { place -= 1 }
            ready.insert(leader, at: place)
        case .waits(let place): nodes[place]?.waiters.append(leader)
        case .barred(let bar): for member in unit.members { self.bar(member, bar) }
        }
    }

    private func standing(of unit: Unit) -> Standing {
        var awaited: Int64?
        for place in unit.members {
            guard let node = nodes[place] else { continue }
            if let bar = node.bar { return .barred(bar) }
            let blockers = blockers(of: node.operation, in: unit)
            let bars = blockers.compactMap { nodes[$0]?.bar }
            if !bars.isEmpty { return .barred(bars.contains(.stays) ? .stays : .isOfOthers) }
            awaited = awaited ?? blockers.last
        }
        return awaited.map(Standing.waits) ?? .ready
    }

    /// Returns the places of the operations that have to end before the unit begins, because of one of its members.
    private func blockers(of operation: QueuedOperation, in unit: Unit) -> [Int64] {
        var blockers: [Int64] = []
        if let predecessor = index.predecessor(of: operation) { blockers.append(predecessor) }
        if !unit.isForced {
            blockers += dependencies.blockers(of: operation, index).filter { !begins($0, with: operation) }
        }
        // Another user's later operation must not bar an earlier one, or two users' changes would wait for each other.
        blockers.removeAll { blocker in
            unit.members.contains(blocker) || blocker > operation.sequence && nodes[blocker]?.bar == .isOfOthers
        }
        return blockers
    }

    /// Whether the group at that place has a later member on the operation's record. The whole group then waits for the
    /// operation, so the operation cannot wait for the group.
    private func begins(_ place: Int64, with operation: QueuedOperation) -> Bool {
        let together = nodes[place].flatMap { units[$0.leader]?.members } ?? []
        return together.contains { $0 > operation.sequence && nodes[$0]?.operation.key == operation.key }
    }

    /// Returns the members of a group, parents before their children. The delete of a parent comes after all changes of its
    /// children, also those with later places: the decision of a conflict may have given them such places.
    private func ordered(_ members: [Int64]) -> [Int64] {
        guard members.count > 1 else { return members }
        var left = members
        var ordered: [Int64] = []
        while !left.isEmpty {
            let next = left.firstIndex { place in
                guard let operation = nodes[place]?.operation else { return true }
                let blockers = dependencies.blockers(of: operation, index)
                return !left.contains { other in
                    other != place
                        && (blockers.contains(other)
                            || nodes[other].map { dependencies.isOfChild($0.operation, ofRecordIn: operation) } ?? false)
                }
            }
            ordered.append(left.remove(at: next ?? 0))
        }
        return ordered
    }

    /// Lets the first unit of a circular wait go ahead, because such records would wait endlessly.
    private mutating func breakCircle() {
        if open > 0 {
            for leader in units.keys.sorted() where ready.isEmpty { force(leader) }
        }
        guard ready.isEmpty else { return }
        // Every operation in a circle through two users' operations is barred.
        for leader in circularWaits().sorted() where ready.isEmpty {
            guard var unit = units[leader], !unit.isForced else { continue }
            unit.isForced = true
            let isFree = unit.members.allSatisfy { place in
                guard let operation = nodes[place]?.operation else { return false }
                return selection.isOfUser(operation) && blockers(of: operation, in: unit).isEmpty
            }
            guard isFree else { continue }
            for place in unit.members {
                nodes[place]?.bar = nil
                open += 1
            }
            force(leader)
        }
    }

    private mutating func force(_ leader: Int64) {
        units[leader]?.isForced = true
        look(at: leader)
    }

    /// Returns the leaders of the units that wait for other users' operations in circles, or between two circles.
    private func circularWaits() -> Set<Int64> {
        let barred = units.filter { _, unit in
            unit.members.allSatisfy { place in
                nodes[place].map { $0.bar == .isOfOthers && !$0.operation.isHeld } ?? false
            }
        }
        var waits = barred.mapValues { unit in
            Set(
                unit.members.flatMap { place in nodes[place].map { blockers(of: $0.operation, in: unit) } ?? [] }
                    .compactMap { nodes[$0]?.leader })
        }
        var count = 0
        while waits.count != count {
            count = waits.count
            let awaited = waits.values.reduce(into: Set<Int64>()) { $0.formUnion($1) }
            waits = waits.filter { awaited.contains($0.key) }
                .mapValues { $0.filter { waits[$0] != nil } }.filter { !$0.value.isEmpty }
        }
        return Set(waits.keys)
    }
}
