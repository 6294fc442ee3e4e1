/// What must hold in every simulation: the names under which violations are reported.
public enum SimulationInvariant: String, Sendable, Hashable, CaseIterable {
    /// A local write that returned is for ever after in one of: row and queue, server, a conflict shown to the
    /// application, or the audit.
    case noLostWrite = "I1 no lost write"
    /// Each revision of an operation takes effect on the server at most once.
    case exactlyOnce = "I2 exactly once"
    /// Effects on one record reach the server in the order in which they were made.
    case recordOrder = "I3 order of a record"
    /// An answer or a page never takes the place of a newer local edit.
    case noStaleOverwrite = "I4 no stale overwrite"
    /// A pull that ends well has brought every row that was committed before it began.
    case noSkippedRow = "I5 no skipped row"
    /// A cursor never goes back.
    case cursorForward = "I6 cursor forward"
    /// A repeat after a lost answer or a crash is recognised, and rows go with their queue: no half of a transaction
    /// is ever seen.
    case atomicity = "I7 atomicity"
    /// Every value of a local row was written here or came from the server.
    case noInvention = "I8 no invention"
    /// What was deleted comes back only by an insert or an undelete.
    case deletedStaysDeleted = "I9 deleted stays deleted"
    /// A group of operations arrives whole or not at all.
    case groups = "I10 groups"
    /// A device reads what it wrote, and a record's version never goes back, across restarts too.
    case session = "I11 session"
    /// No request of one user carries what another wrote.
    case userIsolation = "I12 users"
    /// No token stands in a store, in an error, or in a request's address or body.
    case secrets = "I13 secrets"
    /// Requests, rounds and what the engine keeps of settled records stay within bounds.
    case bounded = "I14 bounded"
    /// When all is well again the queue empties, or each operation left has a reason.
    case queueDrains = "L1 queue drains"
    /// When all is well again every device holds what the server holds, and so all hold the same (L3).
    case convergence = "L2 convergence"
    /// The status says what is so.
    case status = "L4 status"
    /// Draining takes at most three times the requests that it has to.
    case effort = "L5 effort"
    /// A conflict handler of the configuration keeps what both sides have: it deletes no record that neither of them has
    /// deleted, and leaves no property out of a merge that both records have.
    case handlers = "H1 handlers"
    /// The configuration's own ``SimulationConfiguration/rules`` hold.
    case rules = "H2 own rules"
    /// The engine throws nothing that it does not document.
    case documentedErrors = "E1 documented errors"
    /// Everything that was begun ends.
    case progress = "E2 progress"
}
