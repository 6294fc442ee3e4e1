internal import Foundation
internal import SluiceCore

/// A place at which a store is opened again and again.
actor Reopened {
    private let open: @Sendable (String) async throws -> any LocalStore
    /// The parent of the store's folders; nil where the location of its files is unknown.
    private let root: String?
    private var generation = 0
    private var current: (any LocalStore)?
    /// The stores left open, as a killed process leaves them. They are kept, because a store writes when it is
    /// deallocated and could then hide a missing write.
    private var abandoned: [any LocalStore] = []

    /// Creates a place that only `open` knows.
    init(_ open: @escaping @Sendable () async throws -> any LocalStore) {
        root = nil
        self.open = { _ in try await open() }
    }

    /// Creates a place in folders inside `root`; each is passed to `open`.
    init(in root: String, _ open: @escaping @Sendable (String) async throws -> any LocalStore) {
        self.root = root
        self.open = open
    }

    private var folder: String { root.map { "\($0)/\(generation)" } ?? "" }

    /// Returns the open store, or opens a new one.
    ///
    /// - Throws: ``ConformanceFailure`` where an abandoned store keeps the new one out, or the error of `open`.
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

    /// Leaves the store as a killed process does: it is neither closed nor deallocated. With a root folder, the next
    /// store opens a copy of the files written so far.
    func abandon() throws {
        guard let store = current else { return }
        abandoned.append(store)
        current = nil
        guard root != nil else { return }
        let left = folder
        generation += 1
        try FileManager.default.copyItem(atPath: left, toPath: folder)
    }

    /// Closes the current store and all abandoned ones.
    func end() async throws {
        let left = abandoned
        abandoned = []
        try await close()
        for store in left { try? await store.close() }
    }
}
