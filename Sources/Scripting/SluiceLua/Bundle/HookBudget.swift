internal import SluiceCore

/// The limits of one call of a hook. A manifest or a policy can lower them, but never raise them.
public struct HookBudget: Sendable, Hashable {
    /// Instructions, bytes and work of the libraries, in one number.
    public var fuel: Int64
    /// The thread's CPU time between two waits.
    public var burst: Duration
    /// The thread's CPU time from the first instruction to the last; nil where ``burst`` and ``fuel`` bound it.
    public var cpu: Duration?
    /// The wall-clock time, waits included, without the time of `next`; nil for a hook that does not wait.
    public var wall: Duration?

    /// Creates a budget.
    public init(fuel: Int64, burst: Duration, cpu: Duration? = nil, wall: Duration? = nil) {
        self.fuel = fuel
        self.burst = burst
        self.cpu = cpu
        self.wall = wall
    }

    /// Returns the fuel for a page of that many records: a share for each, together at most ``fuel``.
    public func fuel(forRecords count: Int) -> Int64 {
        let (sum, isTooLarge) = HookBudget.fuelOfRecord.multipliedReportingOverflow(by: Int64(max(count, 1)))
        return isTooLarge ? fuel : min(sum, fuel)
    }

    /// The fuel of one pulled record, and of one value of a codec.
    static let fuelOfRecord: Int64 = 50_000
}

extension HookKind {
    /// The limits of a call unless a manifest or a policy lowers them. For `after_pull_page` it is the limit of the
    /// longest page: ``HookBudget/fuel(forRecords:)`` returns the fuel of a given page.
    public var budget: HookBudget {
        switch self {
        case .filter, .request, .response, .beforePush, .onPushError, .onEvent:
            HookBudget(fuel: 300_000, burst: .milliseconds(20), cpu: .milliseconds(50), wall: .seconds(2))
        case .beforeEnqueue:
            HookBudget(fuel: 100_000, burst: .milliseconds(10), cpu: .milliseconds(10))
        case .onConflict:
            HookBudget(fuel: 1_000_000, burst: .milliseconds(50), cpu: .milliseconds(100), wall: .seconds(5))
        case .afterPull, .toWire, .fromWire:
            HookBudget(fuel: HookBudget.fuelOfRecord, burst: .milliseconds(20))
        case .afterPullPage:
            HookBudget(fuel: 20_000_000, burst: .milliseconds(500))
        case .onSchedule:
            HookBudget(fuel: 2_000_000, burst: .milliseconds(50), cpu: .milliseconds(200), wall: .seconds(10))
        case .insert, .update, .delete:
            HookBudget(fuel: 1_000_000, burst: .milliseconds(50), cpu: .milliseconds(100), wall: .seconds(5))
        case .read:
            HookBudget(fuel: 20_000_000, burst: .milliseconds(500), cpu: .milliseconds(500), wall: .seconds(5))
        case .initialize:
            HookBudget(fuel: 2_000_000, burst: .milliseconds(100), cpu: .milliseconds(100))
        }
    }
}

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
