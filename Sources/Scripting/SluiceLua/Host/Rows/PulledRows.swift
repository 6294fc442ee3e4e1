internal import SluiceCore

/// The rows of a page about which a plugin is asked one by one.
final class PulledRows: Sendable {
    /// The hook, with what one row may cost.
    let plan: HookPlan
    let table: String
    let rows: [PulledRow]
    let check: RecordCheck

    init(_ page: PulledPage, _ plan: HookPlan, _ check: RecordCheck) {
        self.plan = plan
        self.check = check
        table = page.table
        rows = page.rows
    }

    /// The page that the rows are read from; nil if they are records by themselves.
    var text: PulledText? { if case .page(let text, _)? = rows.first?.source { text } else { nil } }

    /// The question about one of them, for no more fuel than that.
    func call(at index: Int, fuel: Int64? = nil) -> HookCall {
        let row = rows[index]
        return HookCall(
            plan: plan, arguments: [LuaArgument("rec", row.record)], table: table, recordID: row.id, fuel: fuel,
            interpret: { [check] in try PulledVerdict.read($0, row, check) })
    }

    /// What the script has decided by setting members of a row; nil if that changes nothing.
    func decision(_ members: JSON, at index: Int) throws -> PulledRowDecision? {
        try check.checked(members: members, of: rows[index]).map { .set($0) }
    }

    /// What became of the rows.
    struct Steps: Sendable {
        /// What was decided of each row; `keep` where something else became of its call.
        var decisions: [PulledRowDecision]
        /// Calls that the host has more to do for, by the rows' places.
        var others: [(index: Int, step: CallStep)] = []
    }
}
