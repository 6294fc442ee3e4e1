internal import SluiceBase

extension SyncContext {
    /// Takes the right to synchronise the store away from its holder: for a process that stands still and cannot be
    /// ended. What that process has under way writes nothing more when it wakes: it ends with `storeLeaseLost`.
    ///
    /// A process that has ended, however that happened, holds nothing; and one that stands still inside of a
    /// transaction holds SQLite's own lock too, so that it must be ended.
    ///
    /// - Throws: ``SluiceError`` of the store.
    public func breakLease() async throws {
        try await store.write { writer in try LeaseRecord(writer).pass(to: "", in: writer) }
        try await store.breakLease()
    }

    /// Runs `body` alone: in this context, and under the lease among all that have the store open. The store that it
    /// is given writes only as long as the lease is its.
    ///
    /// - Parameter seesAll: whether the store shows what stays on this machine too.
    /// - Throws: ``SluiceError`` of code `storeBusy` if another holds the lease for longer than
    ///   ``SyncOptions/leaseTimeout``, `invalidArgument` inside of another run.
    func exclusively<Result: Sendable>(
        seesAll: Bool = false, _ body: @Sendable (any LocalStore) async throws -> Result
    ) async throws -> Result {
        try await activity.run {
            let lease = try await takeLease()
            defer { lease.release() }
            try await refreshLocalOnly()
            return try await body(LeasedStore(seesAll ? store : shared, holder: options.environment.makeID()))
        }
    }

    private func takeLease() async throws -> StoreLease {
        var pause = Duration.milliseconds(5)
        var waited = Duration.zero
        while true {
            if let lease = try await store.takeLease() { return lease }
            guard waited < options.leaseTimeout else {
                throw SluiceError(.storeBusy, "another process synchronises the store; try again when it is done")
            }
            pause = min(pause, options.leaseTimeout - waited)
            do {
                try await options.environment.sleep(pause)
            } catch {
                throw SluiceError(wrapping: error)
            }
            waited += pause
            pause = min(pause * 2, .milliseconds(250))
        }
    }
}
