internal import SluiceCore

/// The rows of a page about which a plugin is asked one by one.
struct PulledRows: Sendable {
    /// The hook, with what one row may cost.
    let plan: HookPlan
    let table: String
    let rows: [PulledRow]
    let check: RecordCheck

    /// The page that the rows are read from; nil if they are records by themselves.
    var text: PulledText? { rows.first?.source?.page }

    /// The question about one of them.
    func call(at index: Int) -> HookCall {
        let row = rows[index]
        return HookCall(
            plan: plan, arguments: [LuaArgument("rec", row.record)], table: table, recordID: row.id,
            interpret: { [check] in try PulledVerdict.read($0, row, check) })
    }

    /// What became of the rows.
    struct Steps: Sendable {
        /// What was decided of each row; `keep` where something else became of its call.
        var decisions: [PulledRowDecision]
        /// Calls that the host has more to do for, by the rows' places.
        var others: [(index: Int, step: CallStep)] = []
    }
}
