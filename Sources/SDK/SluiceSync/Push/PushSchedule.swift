/// Which operation may be sent next: pure bookkeeping over the queue as it was read.
///
/// Per record the queue's order holds always. Parents and children follow the declared dependencies, a group starts as
/// one. An operation that waits is filed under one of those that it waits for and looked at again when that one has
/// ended, so that a long queue costs no more for each operation than a short one. What stays in the queue after it was
/// tried *bars* those that wait for it: they are not sent by this push. Nothing else waits for it.
struct PushSchedule: Sendable {
    private struct Node {
        let operation: QueuedOperation
        /// The first operation of its group, or itself.
        let leader: Int64
        /// The leaders of those that wait for this one.
        var waiters: [Int64] = []
        var bar: Bar?
        var isRunning = false

        var isBarred: Bool { bar != nil }
    }

    /// Why an operation is not sent by this push. What waits for several is barred by what all of these have in common.
    private struct Bar: Hashable {
        /// Whether nothing speaks against it: the next push sends it.
        var isLeft = false
        /// Whether it is another user's, or waits for one of those alone.
        var isOthers = false

        static func & (left: Bar, right: Bar) -> Bar {
            Bar(isLeft: left.isLeft && right.isLeft, isOthers: left.isOthers && right.isOthers)
        }
    }

    /// The operations that are begun together, by their leader.
    private struct Unit {
        var members: [Int64]
        var rounds = 0
        var isReady = false
        /// Whether it has waited in a circle with others and goes ahead regardless.
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
    /// The leaders of units that may begin, the next one last.
    private var ready: [Int64] = []
    private var running: Set<Int64> = []
    private var open = 0

    init(dependencies: [TableDependency], selection: PushSelection) {
        self.dependencies = PushDependencies(dependencies)
        self.selection = selection
        index = PushDependencies.Index()
    }

    /// The operations that are left for the next push although nothing speaks against them.
    var left: Set<String> { Set(nodes.values.filter { $0.bar?.isLeft == true }.map(\.operation.id)) }

    /// The last place of those operations that are known and not through; 0 where all are. Those of records with
    /// these hashes do not count, as they may have gone by a decision.
    func lastPlace(except decided: Set<Int>) -> Int64 {
        nodes.reduce(0) { decided.contains($1.value.operation.key.hashValue) ? $0 : max($0, $1.key) }
    }

    /// Whether the operation was taken in, and is not through.
    func knows(_ operation: QueuedOperation) -> Bool { nodes[operation.sequence]?.operation.id == operation.id }

    /// Whether an operation is under way.
    var isRunning: Bool { !running.isEmpty }

    /// Whether there are too few operations to begin as many as may be under way, where it is their turn. Of those that
    /// wait for one under way, such as many on one record, it is enough to know some.
    func needsMore(_ pace: PushPace, _ part: Int) -> Bool {
        if pace.inRounds, isRunning { return false }
        guard ready.count < pace.atOnce - running.count else { return false }
        return open < max(part, 2 * pace.atOnce) || (ready.isEmpty && !isRunning)
    }

    /// The record of an operation that is known and not through.
    func key(of place: Int64) -> RecordKey? { nodes[place]?.operation.key }

    /// Whether operations of that group were taken in.
    func knows(_ group: String) -> Bool { leaders[group] != nil }

    /// Whether the delete of a parent has changes of its children before it among operations that came meanwhile: most
    /// of those are for the next push, and so then is the delete.
    func waits(_ operation: QueuedOperation, forOthersOf others: [QueuedOperation]) -> Bool {
        operation.kind == .delete && operation.group == nil
            && others.contains { dependencies.places($0, before: operation) }
    }

    /// Takes in operations that stand after all that are known.
    mutating func add(_ operations: [QueuedOperation]) {
        var added: Set<Int64> = []
        for operation in operations {
            let place = operation.sequence
            // What stood there has gone.
            remove(place)
            var leader = place
            if let group = operation.group {
                leader = leaders[group] ?? place
                leaders[group] = leader
            }
            let isOthers = !selection.isOfUser(operation)
            let isBarred = operation.isHeld || isOthers || !selection.admits(operation)
            nodes[place] = Node(operation: operation, leader: leader, bar: isBarred ? Bar(isOthers: isOthers) : nil)
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

    /// Begins what may be begun now, and returns it in the order in which a batch should hold it.
    mutating func start(_ pace: PushPace) -> [QueuedOperation] {
        guard !pace.inRounds || running.isEmpty else { return [] }
        if ready.isEmpty, running.isEmpty, open > 0 { breakCircle() }
        var started: [QueuedOperation] = []
        while running.count < pace.atOnce, let leader = ready.last {
            let members = units[leader]?.members ?? []
            // A group larger than what is left of the pace waits for its turn, and has it alone.
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

    /// Notes what became of an operation that was begun.
    mutating func end(_ place: Int64, _ outcome: OperationSession.Outcome) {
        guard let leader = nodes[place]?.leader else { return }
        running.remove(place)
        nodes[place]?.isRunning = false
        switch outcome {
        case .done: remove(place)
        case .kept, .stopped: bar(place)
        case .left: bar(place, Bar(isLeft: true))
        case .again, .skipped: break
        }
        guard let unit = units[leader], !unit.members.contains(where: { nodes[$0]?.isRunning == true }) else { return }
        let isStuck = unit.rounds > Self.maximumRounds + unit.members.count
        let barred = unit.members.filter { nodes[$0]?.isBarred == true }
        if isStuck || !barred.isEmpty {
            let isLeft = !isStuck && barred.allSatisfy { nodes[$0]?.bar?.isLeft == true }
            for member in unit.members { bar(member, Bar(isLeft: isLeft)) }
        } else {
            look(at: leader)
        }
    }

    /// How often an operation or a group is begun in one push; a conflict has fewer rounds, so this is for servers that
    /// skip an operation again and again.
    private static let maximumRounds = 3 * OperationSession.maximumRounds

    private mutating func remove(_ place: Int64) {
        guard let node = nodes.removeValue(forKey: place) else { return }
        if !node.isBarred { open -= 1 }
        index.remove(node.operation)
        units[node.leader]?.members.removeAll { $0 == place }
        if units[node.leader]?.members.isEmpty == true { units[node.leader] = nil }
        for waiter in node.waiters { look(at: waiter) }
    }

    /// Bars an operation for the rest of the push, and whatever waits for it.
    private mutating func bar(_ place: Int64, _ bar: Bar = Bar()) {
        var places = [place]
        while let place = places.popLast() {
            guard let node = nodes[place], !node.isBarred else { continue }
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

    /// Files the unit under what it waits for, or among those that may begin.
    private mutating func look(at leader: Int64) {
        guard let unit = units[leader], !unit.isReady, !unit.members.contains(where: running.contains) else { return }
        switch standing(of: unit) {
        case .ready:
            units[leader]?.isReady = true
            // The next one stands last, and most of them come in that order already.
            var place = ready.count
            while place > 0, ready[place - 1] < leader { place -= 1 }
            ready.insert(leader, at: place)
        case .waits(let place): nodes[place]?.waiters.append(leader)
        case .barred(let bar): for member in unit.members { self.bar(member, bar) }
        }
    }

    private func standing(of unit: Unit) -> Standing {
        for place in unit.members {
            guard let node = nodes[place] else { continue }
            if let bar = node.bar { return .barred(bar) }
            var blockers: [Int64] = []
            if let predecessor = index.predecessor(of: node.operation) { blockers.append(predecessor) }
            if !unit.isForced {
                blockers += dependencies.blockers(of: node.operation, index)
                    .filter { !begins($0, with: node.operation) }
            }
            // Each user's changes would wait for the other's if those that were made later barred those before them.
            blockers.removeAll { blocker in
                unit.members.contains(blocker) || blocker > place && nodes[blocker]?.bar?.isOthers == true
            }
            let bars = blockers.compactMap { nodes[$0]?.bar }
            if let first = bars.first { return .barred(bars.dropFirst().reduce(first, &)) }
            if let blocker = blockers.last { return .waits(for: blocker) }
        }
        return .ready
    }

    /// Whether the group of that place has a member that stands after the operation on the same record. The whole group
    /// waits for the operation then, so the operation cannot wait for one of the group.
    private func begins(_ place: Int64, with operation: QueuedOperation) -> Bool {
        let together = nodes[place].flatMap { units[$0.leader]?.members } ?? []
        return together.contains { $0 > operation.sequence && nodes[$0]?.operation.key == operation.key }
    }

    /// The members of a group, parents before their children.
    private func ordered(_ members: [Int64]) -> [Int64] {
        guard members.count > 1 else { return members }
        var left = members
        var ordered: [Int64] = []
        while !left.isEmpty {
            let next = left.firstIndex { place in
                guard let operation = nodes[place]?.operation else { return true }
                return !dependencies.blockers(of: operation, index).contains { left.contains($0) && $0 != place }
            }
            ordered.append(left.remove(at: next ?? 0))
        }
        return ordered
    }

    /// Records that refer to each other in a circle would wait for ever: the first of them goes ahead.
    private mutating func breakCircle() {
        for leader in units.keys.sorted() where ready.isEmpty {
            units[leader]?.isForced = true
            look(at: leader)
        }
    }
}
