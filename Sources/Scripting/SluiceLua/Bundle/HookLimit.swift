internal import SluiceCore

/// One limit of a hook, by its name in manifests and policies.
enum HookLimit: String, CaseIterable {
    case fuel, burst, cpu, wall

    /// Returns the names of the limits that the hook has.
    static func names(of kind: HookKind) -> [String] {
        let budget = kind.budget
        return ["fuel", "burst"] + (budget.cpu == nil ? [] : ["cpu"]) + (budget.wall == nil ? [] : ["wall"])
    }

    /// Lowers the limit. Returns the expectation if the value is invalid or above the limit.
    func lower(_ budget: inout HookBudget, to value: JSON) -> String? {
        switch self {
        case .fuel:
            guard let fuel = value.int, (1...budget.fuel).contains(fuel) else {
                return "a whole number from 1 to \(budget.fuel): limits are lowered only"
            }
            budget.fuel = fuel
        case .burst: return lower(&budget.burst, to: value)
        case .cpu:
            guard var cpu = budget.cpu else { return "no such limit" }
            if let reason = lower(&cpu, to: value) { return reason }
            budget.cpu = cpu
        case .wall:
            guard var wall = budget.wall else { return "no such limit" }
            if let reason = lower(&wall, to: value) { return reason }
            budget.wall = wall
        }
        return nil
    }

    private func lower(_ limit: inout Duration, to value: JSON) -> String? {
        guard let length = value.string.flatMap(DurationText.duration), length > .zero, length <= limit else {
            let most = limit.wholeNanoseconds / 1_000_000
            return "a length of time from \"1ms\" to \"\(most)ms\": limits are lowered only"
        }
        limit = length
        return nil
    }
}
