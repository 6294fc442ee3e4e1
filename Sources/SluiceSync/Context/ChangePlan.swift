internal import SluiceBase

/// What hooks have decided about the changes of a transaction.
///
/// Which changes a transaction makes shows only when its body runs, inside a transaction. So the body runs, what hooks
/// have to see of it is noted, and the transaction is rolled back; the hooks are asked; and the body runs again. It
/// counts when each of its changes is one that the hooks have seen as it is.
struct ChangePlan: Sendable {
    /// Thrown to roll a run back of which hooks have not seen all.
    struct Undecided: Error {
        /// How many of the decisions still stand.
        var valid: Int
        /// What the run found after those.
        var looks: [EnqueuePreview]
        /// The ids that it made for new records.
        var ids: [RecordID]
    }

    struct Decision: Sendable {
        var look: EnqueuePreview
        var verdict: EnqueueVerdict
    }

    var decisions: [Decision] = []
    /// The ids of new records, which are the same in each run.
    var ids: [RecordID] = []
    private var attempts = 0

    init() {}

    /// The plan with the hooks' verdicts on the changes that they have not seen.
    func asking(_ hooks: [any SyncHook], about undecided: Undecided) async throws(SluiceError) -> ChangePlan {
        var plan = self
        plan.attempts += 1
        guard plan.attempts <= HookedWrite.mostAttempts else { throw HookedWrite.moved() }
        plan.decisions = Array(decisions.prefix(undecided.valid))
        plan.ids = undecided.ids
        for look in undecided.looks {
            let chain = AskedHooks(hooks, .beforeEnqueue, table: look.change.table)
            let seen = look.shown(attempt: plan.attempts)
            plan.decisions.append(Decision(look: look, verdict: try await chain?.verdict(on: seen) ?? EnqueueVerdict()))
        }
        return plan
    }
}

/// One run of the body, by the plan so far. It lives as long as the transaction.
final class PlannedRun {
    private let plan: ChangePlan
    private var ids: [RecordID]
    /// How many changes hooks were to see, and how many ids were made.
    private var changes = 0
    private var made = 0
    /// How many decisions stood; nil while all do.
    private var valid: Int?
    private var looks: [EnqueuePreview] = []

    init(_ plan: ChangePlan) {
        self.plan = plan
        ids = plan.ids
    }

    /// The id of a record that is to be made: its own, or one that is the same in each run.
    func id(ofNew record: JSON, table: String, _ environment: SyncEnvironment) throws -> RecordID {
        guard record["id"]?.isNull ?? true else { return try RecordRules.id(ofNew: record, table: table, environment) }
        if made == ids.count { ids.append(try RecordRules.id(ofNew: record, table: table, environment)) }
        made += 1
        return ids[made - 1]
    }

    /// The change as the hooks have decided it, or as it is where they have still to see it.
    func decide(_ change: LocalChange, _ hooks: [any SyncHook], _ store: any StoreReader) throws -> LocalChange {
        guard AskedHooks(hooks, .beforeEnqueue, table: change.table) != nil else { return change }
        let look = try change.look(at: store)
        defer { changes += 1 }
        if valid == nil, changes < plan.decisions.count, plan.decisions[changes].look == look {
            return change.taking(plan.decisions[changes].verdict)
        }
        valid = valid ?? changes
        looks.append(look)
        return change
    }

    /// - Throws: ``ChangePlan/Undecided`` where hooks have to be asked about something.
    func confirm() throws {
        if let valid { throw ChangePlan.Undecided(valid: valid, looks: looks, ids: ids) }
    }
}
