internal import HTTPTypes
package import SluiceCore

/// Carries out the waits of scripts, off the plugins' thread.
package struct HostServices: Sendable {
    var environment: SyncEnvironment
    /// Waits for the end of a call's time.
    var timer: @Sendable (Duration) async throws -> Void
    /// The transport of `http`; nil for none. Like any transport it follows no redirects.
    var transport: (any Transport)?
    /// The store of `store`; nil for none.
    var store: (any LocalStore)?
    /// The storage of `kv`.
    var storage: any PluginStorage

    package init(
        environment: SyncEnvironment, timer: @escaping @Sendable (Duration) async throws -> Void,
        transport: (any Transport)? = nil, store: (any LocalStore)? = nil, storage: any PluginStorage
    ) {
        self.environment = environment
        self.timer = timer
        self.transport = transport
        self.store = store
        self.storage = storage
    }

    /// Carries out a wait within a time; nil for no limit.
    package func perform(_ wait: HostWait, within time: Duration?) async -> WaitResult {
        guard let time else { return await perform(wait) }
        guard time > .zero else { return .ended(.deadline) }
        if case .sleep(let pause) = wait, pause > time { return .ended(.deadline) }
        let timer = timer
        return await withTaskGroup(of: WaitResult?.self) { group in
            group.addTask { await perform(wait) }
            group.addTask {
                do {
                    try await timer(time)
                    return .ended(.deadline)
                } catch {
                    return nil
                }
            }
            defer { group.cancelAll() }
            while let result = await group.next() { if let result { return result } }
            return .ended(.cancelled)
        }
    }

    private func perform(_ wait: HostWait) async -> WaitResult {
        do {
            switch wait {
            case .sleep(let pause):
                try await environment.sleep(pause)
                return .reply(.value(nil))
            case .http(let request):
                guard let transport else { return .reply(.failure("the host has given plugins no transport")) }
                return .reply(HostFunctions.document(of: try await transport.send(request)))
            case .record(let table, let id):
                guard let store else { return .reply(.failure("the host has given plugins no store")) }
                return .reply(.value(try await store.read { try $0.record(id, in: table) }))
            case .count(let query):
                guard let store else { return .reply(.failure("the host has given plugins no store")) }
                return .reply(.value(JSON(try await store.read { try $0.count(matching: query) })))
            case .table: return .reply(.failure("there is no table's server here"))
            case .next: return .reply(.failure("next can be used in the hook filter only"))
            }
        } catch {
            if Task.isCancelled || error is CancellationError { return .ended(.cancelled) }
            return .reply(.failure((error as? SluiceError).map { "\($0.code): \($0.message)" } ?? "\(error)"))
        }
    }
}
