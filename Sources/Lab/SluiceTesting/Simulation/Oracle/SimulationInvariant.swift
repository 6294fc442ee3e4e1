internal import SluiceCore

/// The invariants of every simulation; violations are reported under these names.
public enum SimulationInvariant: String, Sendable, Hashable, CaseIterable {
    /// After a local write has returned, it is always in one of: row and queue, server, a conflict shown to the
    /// application, or the audit.
    case noLostWrite = "I1 no lost write"
    /// Each revision of an operation takes effect on the server at most once.
    case exactlyOnce = "I2 exactly once"
    /// Effects on one record reach the server in the order of the edits.
    case recordOrder = "I3 order of a record"
    /// An answer or a page never replaces a newer local edit.
    case noStaleOverwrite = "I4 no stale overwrite"
    /// A successful pull returns every row that was committed before it began.
    case noSkippedRow = "I5 no skipped row"
    /// A cursor never goes back.
    case cursorForward = "I6 cursor forward"
    /// A repeat after a lost answer or a crash is recognised, and rows are stored together with their queue: half a
    /// transaction is never seen.
    case atomicity = "I7 atomicity"
    /// Every value of a local row was written here or came from the server.
    case noInvention = "I8 no invention"
    /// A deleted record comes back only by an insert or an undelete.
    case deletedStaysDeleted = "I9 deleted stays deleted"
    /// A group of operations arrives completely or not at all.
    case groups = "I10 groups"
    /// A device reads its own writes, and a record's version never goes back, across restarts too.
    case session = "I11 session"
    /// No request of one user carries a write of another.
    case userIsolation = "I12 users"
    /// No token is in a store, in an error, or in a request's address or body.
    case secrets = "I13 secrets"
    /// The number of requests, of rounds and of stored data on settled records stays within bounds.
    case bounded = "I14 bounded"
    /// Without faults the queue empties, or each operation left has a reason.
    case queueDrains = "L1 queue drains"
    /// Without faults every device comes to hold the server's rows, and so all hold the same (L3).
    case convergence = "L2 convergence"
    /// The status agrees with the store.
    case status = "L4 status"
    /// Draining the queue takes at most three times the necessary requests.
    case effort = "L5 effort"
    /// A conflict handler of the configuration keeps the common data of both sides: it deletes no record that neither
    /// side has deleted, and its merge leaves out no property of both.
    case handlers = "H1 handlers"
    /// The configuration's own ``SimulationConfiguration/rules`` hold.
    case rules = "H2 own rules"
    /// The engine throws only documented errors.
    case documentedErrors = "E1 documented errors"
    /// Every started task ends.
    case progress = "E2 progress"
}

/// The two properties that the applications of a story write, and their names there.
struct SimulatedFields: Sendable {
    /// The names inside the simulator.
    static let all = ["a", "b"]

    /// Whether their names are equal except for Unicode normalisation.
    let areTwins: Bool

    /// Returns the property's name in records.
    func name(_ field: String) -> String {
        guard areTwins else { return field }
        return field == "a" ? "\u{E9}" : "e\u{301}"
    }

    /// Returns whether a record's property is one of the two.
    func isOne(_ property: PropertyName) -> Bool { Self.all.contains { PropertyName(name($0)) == property } }

    /// Returns the property's value in a record: some servers turn numbers into texts, and a hook changes their sign.
    func value(_ field: String, of record: JSON?) -> Int64? {
        guard let value = record?[name(field)], let number = value.int ?? value.string.flatMap({ Int64($0) }) else {
            return nil
        }
        return number < 0 ? 0 &- number : number
    }

    /// Returns the properties as members of a record.
    func members(_ values: [String: Int64]) -> [(name: String, value: JSON)] {
        Self.all.compactMap { field in values[field].map { (name(field), JSON($0)) } }
    }
}
