internal import SluiceBase

extension SyncContext {
    /// Makes changes that reach the server all together or not at all, and are stored here in one transaction, as by
    /// ``write(options:_:)``.
    ///
    /// ```swift
    /// try await context.group { group in
    ///     try group.insert(["id": "o-1", "item": "i-7"], in: "orders")
    ///     try group.update(["id": "i-7", "stock": 41], in: "items")
    /// }
    /// ```
    ///
    /// A group needs a server that takes batches: ``SyncOptions/batchSize`` above 1. It holds up to that many
    /// operations, and one on each record. Later edits of its records go after it; retry, discard and undo act on the
    /// whole group.
    ///
    /// - Parameters:
    ///   - options: what is said of each operation of the group.
    ///   - body: makes the changes, on the store as it is in that moment. Where it throws, nothing has happened. The
    ///     group is valid until it returns. Where ``SyncOptions/hooks`` look at the changes it runs up to four times,
    ///     and only the last time counts.
    /// - Returns: what `body` returns.
    /// - Throws: ``SluiceError`` of code `operationRefused` where a group cannot be sent or would be too large; what a
    ///   change throws; what `body` throws; of code `refusedByHook` and `hookFailed` where a hook refuses or fails.
    @discardableResult
    public func group<Result: Sendable>(
        options: OperationOptions = OperationOptions(), _ body: @Sendable (LocalTransaction) throws -> Result
    ) async throws -> Result {
        let limit = try groupLimit()
        let id = self.options.environment.makeID()
        return try await transact(group: id, options) { transaction in
            let result = try body(transaction)
            let count = try QueueReader(transaction.store).members(of: id).count
            guard count <= limit else {
                throw SluiceError(
                    .operationRefused,
                    "a group holds up to \(limit) operations, as one batch does; this has \(count)")
            }
            return result
        }
    }

    /// How many operations a group may have.
    func groupLimit() throws(SluiceError) -> Int {
        guard let size = options.batchSize, size > 1 else {
            throw SluiceError(
                .operationRefused,
                "a group needs a server that takes batches; set the batch size to more than 1 if it does")
        }
        return size
    }
}
