public import SluiceBase

/// The source of the tokens that identify the user to a server.
///
/// The provider keeps the token. It is asked before each request, so a provider that fetches one should remember it.
public protocol TokenProvider: Sendable {
    /// Returns the token to send now; nil to send none.
    func token() async throws -> String?

    /// Returns a token in place of one that the server refused with 401, or that is about to expire; nil if none is
    /// available. All requests that need it wait for this one call; a cancelled request leaves it running for the
    /// others. It must not send requests through the client that it provides tokens for.
    func refresh(refused: String?) async throws -> String?

    /// Returns the expiry of the token; nil if it is not known, which is the default. A token is refreshed a little
    /// ahead: see ``ClientOptions/tokenLead``.
    func expiry(of token: String) async throws -> Timestamp?
}

extension TokenProvider {
    /// Returns nil: the expiry is not known.
    public func expiry(of token: String) async throws -> Timestamp? { nil }
}

extension ClientOptions {
    /// The header field that carries a token.
    public enum TokenScheme: Sendable, Hashable {
        /// `X-ZUMO-AUTH: token`.
        case zumo
        /// `Authorization: Bearer token`.
        case bearer
        /// `Authorization: Basic …` (RFC 7617): the token is `name:password`.
        case basic
    }
}

/// Ensures that requests that need a token at the same time cause one refresh.
///
/// A client's filtered copies share it on purpose: they have the same provider, whose refresh must not run twice.
actor TokenRefresh {
    private typealias Waiter = CheckedContinuation<String?, any Error>

    private let provider: any TokenProvider
    private let environment: SyncEnvironment
    private let lead: Duration
    private let coolDown: Duration
    private var isRunning = false
    private var waiting: [Int: Waiter] = [:]
    private var lastWaiter = 0
    /// The previous refresh, and the time of its end by the steady clock.
    private var last: (refused: String?, outcome: Result<String?, any Error>, at: Timestamp)?

    init(_ provider: any TokenProvider, _ options: ClientOptions) {
        self.provider = provider
        environment = options.environment
        lead = options.tokenLead
        coolDown = options.tokenCoolDown
    }

    /// Returns the token to send now: the provider's, or a new one if that is about to expire.
    func current() async throws -> String? {
        guard let token = try await provider.token() else { return nil }
        guard let expiry = try await provider.expiry(of: token) else { return token }
        let now = environment.now()
        guard now.advanced(by: lead) >= expiry else { return token }
        // A refresh has ended since the provider was asked, or the provider keeps no token of its own.
        if let newer = replacement(of: token) { return newer }
        // A token may live for less than the lead: a new one is used until it has expired.
        let isValid = now < expiry
        if isValid, !isRunning, let last, isRecent(last.at) { return token }
        do {
            return try await fresh(inPlaceOf: token) ?? token
        } catch  where isValid && !(error is CancellationError) {
            return token
        }
    }

    /// Returns the token in place of `refused`: from the running refresh, from the previous one if it replaced this
    /// token, or from a new one. Nil if the previous one was recent and returned nothing better.
    func token(inPlaceOf refused: String?) async throws -> String? {
        if !isRunning, let last {
            if let token = replacement(of: refused) { return token }
            if isRecent(last.at) { return try last.outcome.get().flatMap { $0 == refused ? nil : $0 } }
        }
        return try await fresh(inPlaceOf: refused)
    }

    /// Returns the token by which the previous refresh replaced `refused`.
    private func replacement(of refused: String?) -> String? {
        guard !isRunning, let last, last.refused == refused, case .success(let token) = last.outcome else { return nil }
        return token == refused ? nil : token
    }

    private func isRecent(_ time: Timestamp) -> Bool {
        time.duration(to: environment.steady()) < coolDown
    }

    /// Waits for the running refresh, or for a new one. A cancelled task stops waiting; the refresh goes on.
    private func fresh(inPlaceOf refused: String?) async throws -> String? {
        if !isRunning {
            isRunning = true
            Task(executorPreference: environment.executor) { [provider] in
                do {
                    await self.end(refused, .success(try await provider.refresh(refused: refused)))
                } catch {
                    await self.end(refused, .failure(error))
                }
            }
        }
        lastWaiter += 1
        let waiter = lastWaiter
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    waiting[waiter] = continuation
                }
            }
        } onCancel: {
            Task(executorPreference: environment.executor) { await self.cancel(waiter) }
        }
    }

    private func end(_ refused: String?, _ outcome: Result<String?, any Error>) {
        isRunning = false
        last = (refused, outcome, environment.steady())
        // Without a network nothing was learned: the next request asks again, at the pace of its own retries.
        if case .failure(let error as SluiceError) = outcome, error.code.isNetwork { last = nil }
        for (_, waiter) in waiting.sorted(by: { $0.key < $1.key }) { waiter.resume(with: outcome) }
        waiting = [:]
    }

    private func cancel(_ waiter: Int) {
        waiting.removeValue(forKey: waiter)?.resume(throwing: CancellationError())
    }
}
