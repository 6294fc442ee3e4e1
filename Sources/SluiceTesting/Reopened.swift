internal import SluiceCore

/// One place at which a store is opened again and again.
actor Reopened {
    private let open: @Sendable () async throws -> any LocalStore
    private var current: (any LocalStore)?

    init(_ open: @escaping @Sendable () async throws -> any LocalStore) { self.open = open }

    /// The store that is open, or a new one.
    func store() async throws -> any LocalStore {
        if let current { return current }
        let store = try await open()
        current = store
        return store
    }

    func close() async throws {
        let store = current
        current = nil
        try await store?.close()
    }

    /// Lets the store go without closing it, as the end of a process does.
    func abandon() { current = nil }
}
