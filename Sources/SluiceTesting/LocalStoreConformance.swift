public import SluiceCore

/// The checks that every ``LocalStore`` passes.
///
/// ```swift
/// @Test("conforms", arguments: LocalStoreConformance.checks)
/// func conforms(check: LocalStoreConformance.Check) async throws {
///     try await check.run { MyStore() }
/// }
/// ```
public enum LocalStoreConformance {
    /// One named check.
    public struct Check: Sendable, CustomStringConvertible {
        /// What is checked, as a sentence.
        public let name: String
        private let body: @Sendable (any LocalStore) async throws -> Void

        init(_ name: String, _ body: @escaping @Sendable (any LocalStore) async throws -> Void) {
            self.name = name
            self.body = body
        }

        /// The name.
        public var description: String { name }

        /// Runs the check on a store of its own, which `makeStore` makes empty, and closes it.
        ///
        /// - Throws: ``ConformanceFailure`` with what was found, or the error that the store threw.
        public func run(makeStore: @Sendable () async throws -> any LocalStore) async throws {
            let store = try await makeStore()
            do {
                try await body(store)
            } catch {
                try? await store.close()
                throw error
            }
            try await store.close()
        }
    }

    /// Every check.
    public static let checks: [Check] = records + schemas + tables + queries + transactions + pages

    /// One named check of what a store still holds when it is opened anew.
    public struct ReopenCheck: Sendable, CustomStringConvertible {
        /// What is checked, as a sentence.
        public let name: String
        private let body: @Sendable (Reopened) async throws -> Void

        init(_ name: String, _ body: @escaping @Sendable (Reopened) async throws -> Void) {
            self.name = name
            self.body = body
        }

        /// The name.
        public var description: String { name }

        /// Runs the check on a store that several may have open.
        ///
        /// What it shows: all that a call has acknowledged is beyond the store's own memory when the call returns, so
        /// that the end of the process takes none of it. What a power cut takes it does not show.
        ///
        /// - Parameter open: opens the store, always at the same place, which is empty at first. It is called again
        ///   when the store before is closed; and, as after the end of a process, when nobody calls that one any more.
        ///   That one is not let go before the check ends, so that it writes nothing late.
        /// - Throws: ``ConformanceFailure`` with what was found, or the error that the store threw. A store that throws
        ///   `storeBusy` while another is open at its place needs ``run(in:open:)``.
        public func run(open: @escaping @Sendable () async throws -> any LocalStore) async throws {
            try await run(Reopened(open))
        }

        /// Runs the check on a store that only one at a time may have open, as ``run(open:)`` does.
        ///
        /// After the end of a process the store is opened in a copy of its folder, which is made while the one before
        /// still has its files open. So all that belongs to the store has to be in that folder.
        ///
        /// - Parameters:
        ///   - folder: an empty folder for the check, which is left full.
        ///   - open: opens the store in the folder that it is given, which is one in `folder`.
        /// - Throws: ``ConformanceFailure`` with what was found, or the error that the store threw.
        public func run(
            in folder: String, open: @escaping @Sendable (_ folder: String) async throws -> any LocalStore
        ) async throws {
            try await run(Reopened(in: folder, open))
        }

        private func run(_ place: Reopened) async throws {
            do {
                try await body(place)
            } catch {
                try? await place.end()
                throw error
            }
            try await place.end()
        }
    }

    /// The checks for stores that keep their records beyond the process.
    ///
    /// ```swift
    /// @Test("conforms when it is opened anew", arguments: LocalStoreConformance.reopenChecks)
    /// func reopens(check: LocalStoreConformance.ReopenCheck) async throws {
    ///     let path = makeEmptyFolder() + "/store"
    ///     try await check.run { try MyStore(path: path) }
    ///     // Or, where only one at a time may have it open:
    ///     // try await check.run(in: makeEmptyFolder()) { try MyStore(path: $0 + "/store") }
    /// }
    /// ```
    public static let reopenChecks: [ReopenCheck] = durability
}
