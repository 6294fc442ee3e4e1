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

        /// Runs the check.
        ///
        /// - Parameter open: opens the store, always at the same place, which is empty at first. It is called again
        ///   when the store before is closed, or when nobody has it any more, as after the end of a process.
        /// - Throws: ``ConformanceFailure`` with what was found, or the error that the store threw.
        public func run(open: @escaping @Sendable () async throws -> any LocalStore) async throws {
            let place = Reopened(open)
            do {
                try await body(place)
            } catch {
                try? await place.close()
                throw error
            }
            try await place.close()
        }
    }

    /// The checks for stores that keep their records beyond the process.
    ///
    /// ```swift
    /// @Test("conforms when it is opened anew", arguments: LocalStoreConformance.reopenChecks)
    /// func reopens(check: LocalStoreConformance.ReopenCheck) async throws {
    ///     let path = makeEmptyFolder() + "/store"
    ///     try await check.run { try MyStore(path: path) }
    /// }
    /// ```
    public static let reopenChecks: [ReopenCheck] = durability
}
