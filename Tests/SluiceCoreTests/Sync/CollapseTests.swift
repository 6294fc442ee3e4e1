import Testing

@testable import SluiceCore

@Suite("Collapse: a record that has an operation is changed again")
struct CollapseTests {
    struct Cell: CustomTestStringConvertible {
        var queued: TableOperation.Kind
        var state: TableOperation.State = .pending
        var sent = false
        var new: TableOperation.Kind
        var expected: String

        var testDescription: String {
            "\(state.rawValue) \(queued.rawValue)\(sent ? " sent" : "") + \(new.rawValue) → \(expected)"
        }
    }

    static let cells: [Cell] = [
        .init(queued: .insert, new: .insert, expected: "refuse"),
        .init(queued: .insert, new: .update, expected: "absorb"),
        .init(queued: .insert, new: .delete, expected: "vanish"),
        .init(queued: .insert, new: .undelete, expected: "refuse"),
        .init(queued: .insert, sent: true, new: .insert, expected: "refuse"),
        .init(queued: .insert, sent: true, new: .update, expected: "absorb"),
        .init(queued: .insert, sent: true, new: .delete, expected: "become delete"),
        .init(queued: .insert, sent: true, new: .undelete, expected: "refuse"),
        .init(queued: .update, new: .insert, expected: "refuse"),
        .init(queued: .update, new: .update, expected: "absorb"),
        .init(queued: .update, new: .delete, expected: "moveToEnd delete"),
        .init(queued: .update, new: .undelete, expected: "refuse"),
        .init(queued: .delete, new: .insert, expected: "become update"),
        .init(queued: .delete, new: .update, expected: "refuse"),
        .init(queued: .delete, new: .delete, expected: "refuse"),
        .init(queued: .delete, new: .undelete, expected: "vanish"),
        .init(queued: .delete, sent: true, new: .insert, expected: "append"),
        .init(queued: .delete, sent: true, new: .update, expected: "refuse"),
        .init(queued: .delete, sent: true, new: .delete, expected: "refuse"),
        .init(queued: .delete, sent: true, new: .undelete, expected: "append"),
        .init(queued: .undelete, new: .update, expected: "append"),
        .init(queued: .undelete, new: .delete, expected: "vanish"),
        .init(queued: .undelete, sent: true, new: .delete, expected: "moveToEnd delete"),
        .init(queued: .insert, state: .inFlight, sent: true, new: .update, expected: "append"),
        .init(queued: .insert, state: .inFlight, sent: true, new: .delete, expected: "append"),
        .init(queued: .insert, state: .inFlight, sent: true, new: .insert, expected: "refuse"),
        .init(queued: .update, state: .inFlight, sent: true, new: .update, expected: "append"),
        .init(queued: .update, state: .inFlight, sent: true, new: .delete, expected: "append"),
        .init(queued: .delete, state: .inFlight, sent: true, new: .insert, expected: "append"),
        .init(queued: .delete, state: .inFlight, sent: true, new: .undelete, expected: "append"),
        .init(queued: .delete, state: .inFlight, sent: true, new: .update, expected: "refuse"),
        .init(queued: .update, state: .parked, sent: true, new: .update, expected: "absorb"),
        .init(queued: .insert, state: .dead, sent: true, new: .update, expected: "absorb"),
        .init(queued: .insert, state: .parked, sent: true, new: .delete, expected: "vanish"),
        .init(queued: .update, state: .parked, sent: true, new: .delete, expected: "moveToEnd delete"),
        .init(queued: .delete, state: .parked, sent: true, new: .undelete, expected: "append"),
    ]

    @Test("every cell of the table", arguments: cells)
    func cell(_ cell: Cell) {
        var operation = TableOperation(
            id: "op", sequence: 1, table: "todos", recordID: "1", kind: cell.queued, createdAt: Timestamp(ticks: 0))
        operation.state = cell.state
        operation.attempts = cell.sent ? 1 : 0
        let decision = Collapse.decide(queued: operation, new: cell.new)
        let text =
            switch decision {
            case .append: "append"
            case .absorb: "absorb"
            case .become(let kind): "become \(kind.rawValue)"
            case .moveToEnd(let kind): "moveToEnd \(kind.rawValue)"
            case .vanish: "vanish"
            case .refuse: "refuse"
            }
        #expect(text == cell.expected)
    }
}
