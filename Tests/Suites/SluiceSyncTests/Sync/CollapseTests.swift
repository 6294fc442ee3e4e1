import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

@Suite("Collapse: a record that has an operation is changed again")
struct CollapseTests {
    @Test("every cell of the table", arguments: CollapseTable.rows)
    func row(_ row: CollapseTable.Row) {
        for (new, expected) in zip(CollapseTable.kinds, row.outcomes) {
            #expect(row.decide(new) == expected, "\(row.queued.rawValue) \(row.situation.rawValue) + \(new.rawValue)")
        }
    }

    @Test("the table says something about every operation in every situation")
    func complete() {
        for queued in CollapseTable.kinds {
            for situation in CollapseTable.Situation.allCases {
                let rows = CollapseTable.rows.filter { $0.queued == queued && $0.situation == situation }
                #expect(rows.count == 1, "\(queued.rawValue) \(situation.rawValue)")
            }
        }
    }

    @Test("an operation that stands for itself gets successors, whatever its state", arguments: CollapseTable.kinds)
    func standsForItself(_ queued: TableOperation.Kind) {
        for state in TableOperation.State.allCases {
            for new in CollapseTable.kinds {
                var alone = CollapseTable.operation(queued)
                alone.state = state
                var inFlight = alone
                inFlight.state = .inFlight
                let expected = Collapse.decide(queued: inFlight, new: new)
                #expect(Collapse.decide(queued: alone, new: new, isMergeable: false) == expected)
                #expect(Collapse.decide(queued: alone, new: new, group: "g") == expected)
                alone.isMergeable = false
                #expect(Collapse.decide(queued: alone, new: new) == expected)
                alone.isMergeable = true
                alone.group = "g"
                #expect(Collapse.decide(queued: alone, new: new) == expected)
                #expect(Collapse.decide(queued: alone, new: new, group: "other") == expected)
            }
        }
    }

    @Test("a group merges with itself", arguments: CollapseTable.kinds)
    func group(_ queued: TableOperation.Kind) {
        let alone = CollapseTable.operation(queued)
        var member = alone
        member.group = "g"
        for new in CollapseTable.kinds {
            #expect(
                Collapse.decide(queued: member, new: new, group: "g") == Collapse.decide(queued: alone, new: new))
        }
    }
}
