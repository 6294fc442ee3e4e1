internal import SluiceCore

extension Backend {
    /// Removes what has expired by the tables' rules (``BackendConfiguration/Table/recordsExpire``,
    /// ``BackendConfiguration/Table/tombstonesExpire``). It happens by itself when a backend is opened and at intervals
    /// while one is served.
    ///
    /// - Returns: how many records became tombstones or were removed.
    /// - Throws: ``SluiceError`` of a store code.
    @discardableResult
    public func expire() async throws -> Int {
        var total = 0
        for table in served.all where table.rules.expires {
            var count = 0
            repeat {
                try Task.checkCancellation()
                count = try await served.database.write { [served] in
                    try table.expire(now: served.environment.now(), $0)
                }
                total += count
            } while count >= BackendTable.expiryBatch
        }
        return total
    }

    /// How long to wait between two sweeps: an hour, or less where something expires sooner; nil where nothing does.
    var expiryInterval: Duration? {
        let intervals = configuration.tables.flatMap { [$0.recordsExpire, $0.tombstonesExpire].compactMap { $0 } }
        return intervals.min().map { max(.seconds(1), min($0, .seconds(3600))) }
    }

    /// Sweeps at intervals until the task is cancelled. `failed` gets what goes wrong; the next sweep tries again.
    func sweep(_ failed: @Sendable (any Error) -> Void) async {
        guard let interval = expiryInterval else { return }
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: interval)
                try await expire()
            } catch is CancellationError {
                return
            } catch {
                failed(error)
            }
        }
    }
}

extension BackendConfiguration.Table {
    fileprivate var expires: Bool { recordsExpire != nil || tombstonesExpire != nil }
}
