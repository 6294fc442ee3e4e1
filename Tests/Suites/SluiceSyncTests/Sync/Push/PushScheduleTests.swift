import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("Push schedule: which operation may go next")
struct PushScheduleTests {
    private let items = TableDependency("items", on: "lists", by: "list")

    private func operation(
        _ place: Int64, _ kind: TableOperation.Kind, _ record: String, of parent: String? = nil,
        group: String? = nil, isHeld: Bool = false, orderedByTable: Bool = false
    ) -> QueuedOperation {
        let parts = record.split(separator: "/").map(String.init)
        var operation = QueuedOperation(
            id: "op\(place)", sequence: place, table: parts[0], recordID: RecordID(parts[1]), kind: kind)
        operation.group = group
        operation.isHeld = isHeld
        operation.isOrderedByTable = orderedByTable
        if let parent {
            if kind == .delete {
                operation.formerParents = [RecordKey("lists", RecordID(parent))]
            } else {
                operation.parents = [RecordKey("lists", RecordID(parent))]
            }
        }
        return operation
    }

    /// Runs the schedule to its end and tells in which rounds the places were begun.
    private func rounds(
        _ operations: [QueuedOperation], _ dependencies: [TableDependency] = [], pace: PushPace = PushPace(),
        of user: String? = nil, outcomes: [Int64: OperationSession.Outcome] = [:]
    ) -> [[Int64]] {
        var selection = PushSelection()
        selection.user = user
        var schedule = PushSchedule(dependencies: dependencies, selection: selection)
        schedule.add(operations)
        var rounds: [[Int64]] = []
        while rounds.count < 50 {
            let begun = schedule.start(pace).map(\.sequence)
            if begun.isEmpty { return rounds }
            rounds.append(begun)
            for place in begun { schedule.end(place, outcomes[place] ?? .done) }
        }
        return rounds
    }

    @Test("one at a time they go in the queue's order")
    func inOrder() {
        let queue = [operation(1, .insert, "a/1"), operation(2, .update, "b/1"), operation(3, .delete, "a/1")]
        #expect(rounds(queue) == [[1], [2], [3]])
    }

    @Test("several at a time are of different records, and the order on each holds")
    func perRecord() {
        let queue = [
            operation(1, .update, "a/1"), operation(2, .update, "a/1"), operation(3, .update, "a/2"),
            operation(4, .update, "b/1"), operation(5, .update, "b/1"),
        ]
        #expect(rounds(queue, pace: PushPace(atOnce: 3)) == [[1, 3, 4], [2, 5]])
    }

    @Test("a slow record holds up no other")
    func slow() {
        var schedule = PushSchedule(dependencies: [], selection: PushSelection())
        schedule.add((1...6).map { operation(Int64($0), .update, $0 == 2 ? "a/1" : "a/\($0)") })
        let pace = PushPace(atOnce: 2)
        #expect(schedule.start(pace).map(\.sequence) == [1, 3])
        schedule.end(3, .done)
        #expect(schedule.start(pace).map(\.sequence) == [4])
        schedule.end(4, .done)
        #expect(schedule.start(pace).map(\.sequence) == [5])
        schedule.end(1, .done)
        #expect(schedule.start(pace).map(\.sequence) == [2])
    }

    @Test("a parent is made before its child, wherever it stands in the queue")
    func parentFirst() {
        let queue = [
            operation(1, .insert, "items/1", of: "p"), operation(2, .insert, "items/2", of: "q"),
            operation(3, .insert, "lists/p"),
        ]
        #expect(rounds(queue, [items]) == [[2], [3], [1]])
        #expect(rounds(queue, [items], pace: PushPace(atOnce: 8)) == [[2, 3], [1]])
    }

    @Test("a parent is deleted after what was queued before it on its children, and only that")
    func parentDeletedLast() {
        let queue = [
            operation(1, .delete, "items/1", of: "p"), operation(2, .delete, "lists/p"),
            operation(3, .delete, "items/2", of: "p"),
        ]
        #expect(rounds(queue, [items], pace: PushPace(atOnce: 8)) == [[1, 3], [2]])
    }

    @Test("without a column the tables are ordered as wholes")
    func byTable() {
        let queue = [
            operation(1, .insert, "items/1", orderedByTable: true),
            operation(2, .update, "lists/p", orderedByTable: true),
            operation(3, .insert, "lists/q", orderedByTable: true),
            operation(4, .delete, "lists/r", orderedByTable: true),
        ]
        let dependency = TableDependency("items", on: "lists")
        #expect(rounds(queue, [dependency], pace: PushPace(atOnce: 8)) == [[2, 3], [1], [4]])
    }

    @Test("a failed operation parks its successors and its dependents, and nothing else")
    func failed() {
        let queue = [
            operation(1, .insert, "lists/p"), operation(2, .update, "lists/p"),
            operation(3, .insert, "items/1", of: "p"), operation(4, .update, "items/1", of: "p"),
            operation(5, .insert, "lists/q"), operation(6, .insert, "items/2", of: "q"),
        ]
        #expect(rounds(queue, [items], outcomes: [1: .kept]) == [[1], [5], [6]])
        #expect(rounds(queue, [items], outcomes: [3: .kept]) == [[1], [2], [3], [5], [6]])
    }

    @Test("what is held already parks the same, without being sent")
    func held() {
        let queue = [
            operation(1, .insert, "lists/p", isHeld: true), operation(2, .insert, "items/1", of: "p"),
            operation(3, .delete, "items/9", of: "z", isHeld: true), operation(4, .delete, "lists/z"),
            operation(5, .update, "lists/q"),
        ]
        #expect(rounds(queue, [items]) == [[5]])
    }

    @Test("records that refer to each other in a circle do not wait for ever")
    func circle() {
        let folders = TableDependency("lists", on: "lists", by: "parent")
        let queue = [
            operation(1, .insert, "lists/a", of: "b"), operation(2, .insert, "lists/b", of: "a"),
        ]
        #expect(rounds(queue, [folders]) == [[1], [2]])
    }

    @Test("a child that moved to a parent which is made later, out of one that goes, ends in no standstill")
    func knot() {
        var moved = operation(1, .update, "items/c", of: "new")
        moved.formerParents = [RecordKey("lists", "old")]
        var gone = operation(2, .delete, "lists/old")
        gone.formerParents = [RecordKey("lists", "top")]
        let queue = [
            moved, gone, operation(3, .delete, "lists/top"), operation(4, .insert, "lists/top"),
            operation(5, .insert, "lists/new", of: "top"),
        ]
        let folders = TableDependency("lists", on: "lists", by: "parent")
        #expect(Set(rounds(queue, [items, folders]).flatMap(\.self)) == [1, 2, 3, 4, 5])
    }

    @Test("what two users have changed does not wait for each other for ever", arguments: [nil, "list"])
    func twoUsers(_ column: String?) {
        func made(by user: String, _ operation: QueuedOperation) -> QueuedOperation {
            var operation = operation
            (operation.user, operation.isOrderedByTable) = (user, column == nil)
            return operation
        }
        // A child whose parent the other user made later, in a group that waits for the group of the child.
        var queue = [
            made(by: "ann", operation(1, .insert, "lists/a", group: "1")),
            made(by: "ann", operation(2, .insert, "items/x", of: "b", group: "1")),
            made(by: "bob", operation(3, .update, "lists/a", group: "2")),
            made(by: "bob", operation(4, .insert, "lists/b", group: "2")),
        ]
        let dependency = TableDependency("items", on: "lists", by: column)
        #expect(rounds(queue, [dependency], of: "bob").isEmpty)
        #expect(rounds(queue, [dependency], of: "ann") == [[1, 2]])
        // A parent of one's own that was made later, and waits for another's change.
        queue = [
            made(by: "ann", operation(1, .insert, "lists/a")),
            made(by: "ann", operation(2, .insert, "items/x", of: "c")),
            made(by: "bob", operation(3, .update, "items/x")), made(by: "bob", operation(4, .update, "lists/d")),
            made(by: "ann", operation(5, .insert, "lists/c", group: "3")),
            made(by: "ann", operation(6, .update, "lists/d", group: "3")),
        ]
        #expect(rounds(queue, [dependency], of: "ann") == [[1], [2]])
        #expect(rounds(Array(queue[2...]), [dependency], of: "bob") == [[3], [4]])
        // A change that was made before, in a group with one that has to wait for this user's.
        queue = [
            made(by: "bob", operation(1, .update, "items/x", of: "p", group: "2")),
            made(by: "ann", operation(2, .delete, "lists/p")),
            made(by: "bob", operation(3, .insert, "lists/p", group: "2")),
        ]
        #expect(rounds(queue, [dependency], of: "ann") == [[2]])
        #expect(rounds(queue, [dependency], of: "bob").isEmpty)
        // What was made before is waited for.
        queue = [
            made(by: "bob", operation(1, .insert, "lists/b")),
            made(by: "ann", operation(2, .insert, "items/x", of: "b")),
        ]
        #expect(rounds(queue, [dependency], of: "ann").isEmpty)
    }

    @Test("a group goes as one, parents first in it, and waits for what any of it waits for")
    func group() {
        let queue = [
            operation(1, .update, "a/1"), operation(2, .insert, "items/1", of: "p", group: "g"),
            operation(3, .insert, "lists/p", group: "g"), operation(4, .update, "a/1", group: "g"),
            operation(5, .update, "b/1"),
        ]
        #expect(rounds(queue, [items], pace: PushPace(atOnce: 8)) == [[1, 5], [3, 2, 4]])
        #expect(rounds(queue, [items]) == [[1], [3, 2, 4], [5]])
    }

    @Test("a group of which one is held or fails waits as a whole")
    func brokenGroup() {
        let held = [
            operation(1, .insert, "a/1", group: "g"), operation(2, .insert, "a/2", group: "g", isHeld: true),
            operation(3, .insert, "a/3"),
        ]
        #expect(rounds(held) == [[3]])
        let failing = [
            operation(1, .insert, "a/1", group: "g"), operation(2, .insert, "a/2", group: "g"),
            operation(3, .update, "a/1"),
        ]
        #expect(rounds(failing, outcomes: [1: .skipped, 2: .kept]) == [[1, 2]])
    }

    @Test("a server that skips an operation again and again is not asked for ever")
    func skipped() {
        #expect(rounds([operation(1, .insert, "a/1")], outcomes: [1: .skipped]).count < 20)
    }

    @Test("only the tables and tags that are asked for go, and a group goes with any of its tags")
    func selection() {
        var tagged = operation(3, .insert, "a/3", group: "g")
        tagged.tags = ["now"]
        let queue = [operation(1, .insert, "a/1"), operation(2, .insert, "a/2", group: "g"), tagged]
        var byTag = PushSchedule(dependencies: [], selection: PushSelection(tags: ["now"]))
        byTag.add(queue)
        #expect(byTag.start(PushPace(atOnce: 8)).map(\.sequence) == [2, 3])
        var byTable = PushSchedule(dependencies: [], selection: PushSelection(tables: ["b"]))
        byTable.add(queue + [operation(4, .insert, "b/1")])
        #expect(byTable.start(PushPace(atOnce: 8)).map(\.sequence) == [4])
    }

    @Test("tables that depend on each other in a circle are refused, and the error names the circle")
    func declaredCircle() async throws {
        var options = SyncOptions()
        options.dependencies = [
            TableDependency("a", on: "b", by: "x"), TableDependency("b", on: "c"),
            TableDependency("c", on: "a", by: "y"),
        ]
        let error = await #expect(throws: SluiceError.self) {
            try await SyncContext(store: MemoryStore(), options: options)
        }
        #expect(error?.code == .invalidArgument && error?.message.contains("a on b on c on a") == true)
        options.dependencies = [TableDependency("a", on: "a")]
        await #expect(throws: SluiceError.self) { try await SyncContext(store: MemoryStore(), options: options) }
        options.dependencies = [TableDependency("a", on: "a", by: "parent"), TableDependency("b", on: "a")]
        _ = try await SyncContext(store: MemoryStore(), options: options)
    }

    @Test("in a group a parent's delete follows its children's, wherever they stand in the queue")
    func groupedDeletes() {
        let queue = [
            operation(1, .delete, "lists/5", group: "g"), operation(2, .update, "lists/1", group: "g"),
            operation(3, .delete, "items/4", of: "5", group: "g"),
        ]
        #expect(rounds(queue, [items], pace: PushPace(atOnce: 4)) == [[2, 3, 1]])
    }

    @Test("an operation that waits for one that is sent, and for one that is not, does not count")
    func countsOfSent() {
        let byTable = TableDependency("items", on: "lists")
        let queue = [
            operation(1, .undelete, "lists/4", isHeld: true, orderedByTable: true),
            operation(2, .insert, "items/2", orderedByTable: true),
            operation(3, .update, "lists/4", group: "g", orderedByTable: true),
            operation(4, .update, "lists/0", group: "g", orderedByTable: true),
            operation(5, .delete, "lists/4", orderedByTable: true),
        ]
        var schedule = PushSchedule(dependencies: [byTable], selection: PushSelection())
        schedule.add(queue)
        #expect(schedule.countOfSent() == 1)
        #expect(rounds(queue, [byTable]) == [[2]])
    }

    @Test("twenty thousand operations with parents are put in order in no time to speak of")
    func large() {
        let count: Int64 = 10_000
        var queue = (1...count).map { operation($0, .insert, "items/\($0)", of: "p\($0 % 100)") }
        queue += (1...count).map { operation(count + $0, .insert, "lists/p\($0)") }
        var begun = 0
        let time = processorTime {
            var schedule = PushSchedule(dependencies: [items], selection: PushSelection())
            schedule.add(queue)
            while let operation = schedule.start(PushPace()).first {
                begun += 1
                schedule.end(operation.sequence, .done)
            }
        }
        #expect(begun == queue.count)
        #expect(time < .seconds(10))
    }
}
