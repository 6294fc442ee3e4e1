package import SluiceCore

/// The rows of a page as scripts see them in one call: `page`.
package enum PageDocument {
    package static func document(of page: PulledPage) -> JSON {
        var document = JSON(members: [
            ("table", JSON(page.table)), ("count", JSON(page.rows.count)), ("dropped", .object),
            ("rows", JSON(members: page.rows.enumerated().map { (String($0 + 1), $1.record) })),
        ])
        if let name = page.queryName { document["query"] = JSON(name) }
        return document
    }
}

extension HookPlan {
    /// Returns the same hook with the fuel for that many rows at most.
    package func limited(toRows count: Int) -> HookPlan {
        var plan = self
        plan.budget.fuel = min(plan.budget.fuel, plan.budget.fuel(forRecords: count))
        return plan
    }
}

/// The rows of a page, for a plugin that is asked about each.
final class PulledRows: Sendable {
    /// The hook, with the limits for one row.
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

    /// The page that holds the rows; nil if they are separate records.
    var text: PulledText? { if case .page(let text, _)? = rows.first?.source { text } else { nil } }

    /// Returns the hook call for one row, with at most that much fuel.
    func call(at index: Int, fuel: Int64? = nil) -> HookCall {
        let row = rows[index]
        return HookCall(
            plan: plan, arguments: [LuaArgument("rec", row.record)], table: table, recordID: row.id, fuel: fuel,
            interpret: { [check] in try PulledVerdict.read($0, row, check) })
    }

    /// Returns the decision for the members that the script set in a row; nil if they change nothing.
    func decision(_ members: JSON, at index: Int) throws -> PulledRow.Decision? {
        try check.checked(members: members, of: rows[index]).map { .set($0) }
    }

    /// The results of the rows.
    struct Steps: Sendable {
        /// The decision for each row; `keep` for a row whose call is in ``others``.
        var decisions: [PulledRow.Decision]
        /// Calls that the host has to continue, by the rows' indexes.
        var others: [(index: Int, step: CallStep)] = []
    }
}
