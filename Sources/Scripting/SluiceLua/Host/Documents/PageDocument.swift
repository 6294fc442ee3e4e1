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
