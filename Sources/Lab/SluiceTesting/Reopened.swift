internal import Foundation
internal import SluiceCore

/// One place at which a store is opened again and again.
actor Reopened {
    private let open: @Sendable (String) async throws -> any LocalStore
    /// Where the store's folders are; nil where nothing is known of its files.
    private let root: String?
    private var generation = 0
    private var current: (any LocalStore)?
    /// The stores that were left as a process leaves them that is ended. They are kept: one that is let go has a last
    /// moment in which it could still write what it should have written before.
    private var abandoned: [any LocalStore] = []

    /// A place that the caller knows.
    init(_ open: @escaping @Sendable () async throws -> any LocalStore) {
        root = nil
        self.open = { _ in try await open() }
    }

    /// A place in folders in that one, of which each is given to `open`.
    init(in root: String, _ open: @escaping @Sendable (String) async throws -> any LocalStore) {
        self.root = root
        self.open = open
    }

    private var folder: String { root.map { "\($0)/\(generation)" } ?? "" }

    /// The store that is open, or a new one.
    ///
    /// - Throws: ``ConformanceFailure`` where an abandoned store keeps the new one out; what opening throws.
    func store() async throws -> any LocalStore {
        if let current { return current }
        if root != nil { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }
        do {
            let store = try await open(folder)
            current = store
            return store
        } catch let error as SluiceError where error.code == .storeBusy && root == nil && !abandoned.isEmpty {
            throw ConformanceFailure(
                "only one at a time may have the store open, so what a killed process leaves behind takes a folder to "
                    + "look at: use run(in:open:) (\(error))")
        }
    }

    func close() async throws {
        let store = current
        current = nil
        try await store?.close()
    }

    /// Leaves the store as the end of a process does: nothing is closed, and nothing is let go. In folders of its own
    /// the store goes on in a copy of what it has written so far.
    func abandon() throws {
        guard let store = current else { return }
        abandoned.append(store)
        current = nil
        guard root != nil else { return }
        let left = folder
        generation += 1
        try FileManager.default.copyItem(atPath: left, toPath: folder)
    }

    /// Closes all, at the end.
    func end() async throws {
        let left = abandoned
        abandoned = []
        try await close()
        for store in left { try? await store.close() }
    }
}
