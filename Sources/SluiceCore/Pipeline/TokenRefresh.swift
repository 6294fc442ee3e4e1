/// Sees to it that requests refused at the same time cause one refresh.
///
/// A client's filtered copies share it on purpose: they have the same provider, whose refresh must not run twice.
actor TokenRefresh {
    private let provider: any TokenProvider
    private var running: Task<String?, any Error>?
    private var last: (refused: String?, token: String?)?

    init(_ provider: any TokenProvider) { self.provider = provider }

    nonisolated func token() async throws -> String? { try await provider.token() }

    /// The token in the place of `refused`: from the refresh that is running, from the one that has just replaced this
    /// token, or from a new one.
    func token(inPlaceOf refused: String?) async throws -> String? {
        if let running { return try await running.value }
        if let last, last.refused == refused, let token = last.token, token != refused { return token }
        let task = Task { [provider] in try await provider.refresh(refused: refused) }
        running = task
        defer { running = nil }
        let token = try await task.value
        last = (refused, token)
        return token
    }
}
