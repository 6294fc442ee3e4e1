internal import HTTPTypes
public import SluiceCore

/// Holds a client of Sluice against a hostile server: your transport, your store, your filters.
///
/// The trial makes a store that was in step with an honest server, puts the change that the case is about into its
/// queue, and an operation of another table beside it. Then the client meets the hostile server, with a token and a
/// header field of the application's that nobody else may see. Last it meets an honest server again, from which all has
/// to arrive, and to which all has to go that was kept.
///
/// ```swift
/// for hostile in HostileCase.all {
///     let report = try await HostileTrial(hostile, transport: AsyncHTTPTransport()).run()
///     precondition(report.holds, report.description)
/// }
/// ```
public struct HostileTrial: Sendable {
    let hostile: HostileCase
    let transport: any Transport
    let filters: [any Filter]
    let makeStore: @Sendable () async throws -> any LocalStore

    /// A trial.
    ///
    /// - Parameters:
    ///   - transport: what the client talks through; the trial itself talks HTTP to nobody.
    ///   - filters: filters of the application's.
    ///   - makeStore: makes an empty store.
    public init(
        _ hostile: HostileCase, transport: any Transport, filters: [any Filter] = [],
        store makeStore: @escaping @Sendable () async throws -> any LocalStore = { MemoryStore() }
    ) {
        self.hostile = hostile
        self.transport = transport
        self.filters = filters
        self.makeStore = makeStore
    }

    /// Runs the trial.
    ///
    /// - Throws: ``SluiceError`` if it cannot be run at all: no port, a store that cannot be made. What does not hold
    ///   is told by the report.
    public func run() async throws -> HostileReport {
        try await HostileServer.run(hostile) { server in
            let store = try await makeStore()
            let scene = try await HostileScene(server: server, store: store, trial: self)
            try await scene.prepare()
            var report = HostileReport(hostile: hostile)
            let before = try await scene.state()
            try await meet(scene, &report)
            let after = try await scene.state()
            HostileVerdict(hostile: hostile, before: before, after: after, server: server).judge(&report)
            try await scene.heal(after, &report)
            try await store.close()
            return report
        }
    }

    /// Does what the case says, and measures.
    private func meet(_ scene: HostileScene, _ report: inout HostileReport) async throws {
        let meter = hostile.limits.memory == nil ? nil : MemoryMeter()
        let start = ContinuousClock.now
        do {
            let given = try await withThrowingTaskGroup(of: [String]?.self) { group in
                group.addTask { try await scene.act() }
                group.addTask { [hostile] in
                    try await Task.sleep(for: hostile.limits.duration)
                    throw Overdue()
                }
                defer { group.cancelAll() }
                return try await group.next() ?? nil
            }
            if let given {
                report.demand(
                    given == hostile.outcome.rows ?? [], "the application was given the records \(given)")
            }
        } catch is Overdue {
            report.violations.append("the client was not done after \(hostile.limits.duration)")
        } catch let error as SluiceError {
            report.error = error
        } catch {
            report.violations.append("an error of another type than Sluice's: \(error)")
        }
        report.duration = ContinuousClock.now - start
        report.memory = meter?.growth
    }

    private struct Overdue: Error {}
}
