import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

/// What becomes of a queued operation when its record is changed again, cell by cell.
enum CollapseTable {
    static let kinds: [TableOperation.Kind] = [.insert, .update, .delete, .undelete]

    /// What has happened to the queued operation.
    enum Situation: String, CaseIterable {
        case neverSent = "never sent"
        /// The server said that it cannot now.
        case sent
        /// Nobody knows what the server did.
        case uncertain
        case inFlight = "in flight"
        /// The server said no.
        case parked
        case parkedUncertain = "parked, uncertain"
        case dead
        case deadUncertain = "dead, uncertain"
    }

    /// merge: it takes the new body and keeps its place. → kind: it becomes one of that kind in its place.
    /// end delete: it goes, and a delete comes to the end. both vanish: nothing is to be said.
    private static let text = """
        queued   | situation         | insert    | update    | delete      | undelete
        insert   | never sent        | error     | merge     | both vanish | error
        insert   | sent              | error     | merge     | → delete    | error
        insert   | uncertain         | error     | merge     | → delete    | error
        insert   | in flight         | error     | successor | successor   | error
        insert   | parked            | error     | merge     | both vanish | error
        insert   | parked, uncertain | error     | merge     | → delete    | error
        insert   | dead              | error     | merge     | both vanish | error
        insert   | dead, uncertain   | error     | merge     | → delete    | error
        update   | never sent        | error     | merge     | end delete  | error
        update   | sent              | error     | merge     | end delete  | error
        update   | uncertain         | error     | merge     | end delete  | error
        update   | in flight         | error     | successor | successor   | error
        update   | parked            | error     | merge     | end delete  | error
        update   | parked, uncertain | error     | merge     | end delete  | error
        update   | dead              | error     | merge     | end delete  | error
        update   | dead, uncertain   | error     | merge     | end delete  | error
        delete   | never sent        | → update  | error     | error       | both vanish
        delete   | sent              | successor | error     | error       | successor
        delete   | uncertain         | successor | error     | error       | successor
        delete   | in flight         | successor | error     | error       | successor
        delete   | parked            | successor | error     | error       | successor
        delete   | parked, uncertain | successor | error     | error       | successor
        delete   | dead              | successor | error     | error       | successor
        delete   | dead, uncertain   | successor | error     | error       | successor
        undelete | never sent        | error     | successor | both vanish | error
        undelete | sent              | error     | successor | end delete  | error
        undelete | uncertain         | error     | successor | end delete  | error
        undelete | in flight         | error     | successor | successor   | error
        undelete | parked            | error     | successor | end delete  | error
        undelete | parked, uncertain | error     | successor | end delete  | error
        undelete | dead              | error     | successor | end delete  | error
        undelete | dead, uncertain   | error     | successor | end delete  | error
        """

    struct Row: CustomTestStringConvertible {
        var queued: TableOperation.Kind
        var situation: Situation
        /// By what is new, in the order of ``kinds``.
        var outcomes: [String]

        var testDescription: String { "\(queued.rawValue), \(situation.rawValue)" }

        /// What the engine decides.
        func decide(_ new: TableOperation.Kind) -> String {
            var operation = CollapseTable.operation(queued)
            operation.attempts = situation == .neverSent ? 0 : 1
            switch situation {
            case .neverSent, .sent: break
            case .uncertain: operation.isUncertain = true
            case .inFlight: operation.state = .inFlight
            case .parked: operation.state = .parked
            case .parkedUncertain: (operation.state, operation.isUncertain) = (.parked, true)
            case .dead: operation.state = .dead
            case .deadUncertain: (operation.state, operation.isUncertain) = (.dead, true)
            }
            return switch Collapse.decide(queued: operation, new: new) {
            case .append: "successor"
            case .absorb: "merge"
            case .become(let kind): "→ \(kind.rawValue)"
            case .moveToEnd(let kind): "end \(kind.rawValue)"
            case .vanish: "both vanish"
            case .takeBack: "taken back"
            case .refuse: "error"
            }
        }
    }

    static let rows: [Row] = text.split(separator: "\n").dropFirst().compactMap { line in
        let cells = line.split(separator: "|").map {
            String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        guard cells.count == 6, let queued = TableOperation.Kind(rawValue: cells[0]),
            let situation = Situation(rawValue: cells[1])
        else { return nil }
        return Row(queued: queued, situation: situation, outcomes: Array(cells[2...]))
    }

    static func operation(_ kind: TableOperation.Kind) -> TableOperation {
        TableOperation(
            id: "op", sequence: 1, table: "todos", recordID: "a", kind: kind, createdAt: Timestamp(ticks: 0))
    }
}
