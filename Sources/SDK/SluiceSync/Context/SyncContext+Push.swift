internal import SluiceWire
internal import Synchronization

extension SyncContext {
    /// Sends the waiting operations of the queue, always in order per record. ``SyncOptions/concurrency``,
    /// ``SyncOptions/batchSize`` and ``SyncOptions/dependencies`` set the rest.
    ///
    /// A write during the push does not wait for it. An operation that fails by itself is kept with its reason, and
    /// the push goes on.
    ///
    /// - Parameters:
    ///   - tables: only operations of these tables; nil means all.
    ///   - tags: only operations with one of these tags, and those of their groups; nil means all.
    ///   - progress: called after each operation that the server has answered.
    /// - Returns: the end and the counts; failures are reported there, not thrown.
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a context without a client, `storeBusy` while another
    ///   process synchronises the store.
    @discardableResult
    public func push(
        tables: Set<String>? = nil, tags: Set<String>? = nil,
        progress: (@Sendable (SyncProgress) -> Void)? = nil
    ) async throws -> PushResult {
        try await push(PushSelection(tables: tables, tags: tags), progress: progress)
    }

    /// Begins a run: see ``SyncRun``.
    func push(
        _ selection: PushSelection, progress: (@Sendable (SyncProgress) -> Void)? = nil
    ) async throws -> PushResult {
        let result = try await send(selection, progress: progress)
        run.withLock { $0 = SyncRun(result, passingBy: selection.excluded) }
        return result
    }

    func send(
        _ selection: PushSelection, progress: (@Sendable (SyncProgress) -> Void)? = nil
    ) async throws -> PushResult {
        let client = try requireClient()
        var selection = selection
        selection.user = options.user
        return try await exclusively { [options, board, batches, forms, partialLists, selection] store in
            var options = options
            options.localOnly = localOnly
            let driver = PushDriver(
                client: client, store: store, options: options, selection: selection, batches: batches,
                forms: forms, partialLists: partialLists)
            var start = SyncProgress(step: .pushing)
            if progress != nil || watchers.isObserved {
                start.total = try await store.read { reader in
                    try QueueReader(reader).count(.pending) + QueueReader(reader).count(.inFlight)
                }
            }
            let meter = meter(start, progress)
            return try await board.during(.pushing, Reachability.init) {
                try await Metering.$meter.withValue(meter) { try await driver.run() }
            }
        }
    }
}
