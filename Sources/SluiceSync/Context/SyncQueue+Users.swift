internal import SluiceBase
internal import SluiceWire

extension SyncQueue {
    /// Takes operations over that another user made, with their groups: pushes of this context's user send them from
    /// now on. For example for a user whose credentials were renewed and who had no name before. Each is noted in the
    /// audit. Waits for a push that is under way.
    ///
    /// - Parameter filter: which of them; all without one.
    /// - Returns: how many they are.
    /// - Throws: ``SluiceError`` of code `invalidArgument` inside of a conflict handler or a filter, and of the store.
    @discardableResult
    public func takeOver(_ filter: QueueFilter = QueueFilter()) async throws -> Int {
        let (environment, user) = (context.options.environment, context.options.user)
        return try await context.exclusively { store in
            try await store.write(at: .localChange, environment) { writer in
                let queue = QueueWriter(writer)
                let chosen = try queue.reader.all(filter)
                let groups = Set(chosen.compactMap(\.group))
                let others = try queue.reader.all().filter { operation in
                    !operation.belongs(to: user)
                        && (chosen.contains { $0.id == operation.id } || operation.group.map(groups.contains) ?? false)
                }
                for var operation in others {
                    try queue.audit(operation, "take over", local: nil, at: environment.now())
                    operation.user = user
                    try queue.put(operation)
                }
                return others.count
            }
        }
    }
}
