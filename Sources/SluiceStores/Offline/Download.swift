internal import SluiceBase
internal import SluiceSync

/// How far a download has come.
public struct DownloadProgress: Sendable, Hashable {
    /// The defining request that is downloaded, counted from 1.
    public var step: Int
    /// How many defining requests are downloaded.
    public var steps: Int
    /// The name of the defining request.
    public var request: String
    /// The table that rows come of at the moment.
    public var table: String
    /// How many rows of the table have come for this request.
    public var rows: Int
    /// How many bytes of bodies have come for them, decoded.
    public var bytes: Int
}

/// What a download brought.
public struct DownloadResult: Sendable, Hashable {
    /// How many rows were stored.
    public var stored = 0
    /// How many rows were removed: deleted at the service, or let go by the last request that held them.
    public var removed = 0
    /// The names of the defining requests that were downloaded whole.
    public var requests: [String] = []
}

extension OfflineStore {
    /// Brings what has changed at the service since the last download, of all defining requests or of those named.
    ///
    /// If changes wait in the queue, they are uploaded first. A request that fails does not keep the others from being
    /// downloaded, except where the service cannot be reached; ``requests()`` says of each what has become of it. What came
    /// before a failure stays and can be read, and the next download goes on from there; until it has succeeded once, a
    /// request covers nothing.
    ///
    /// - Parameters:
    ///   - names: the defining requests; nil means all.
    ///   - allowsMassRemoval: whether more rows may be removed than ``PullOptions`` lets it unasked.
    ///   - progress: told after each page.
    /// - Throws: the first error, after the other requests were tried; ``SluiceError`` of code `invalidArgument` for a name
    ///   that there is not.
    @discardableResult
    public func download(
        _ names: Set<String>? = nil, allowsMassRemoval: Bool = false,
        progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> DownloadResult {
        let all = try await requests()
        if let unknown = names?.subtracting(all.map(\.request.name)).sorted().first {
            throw SluiceError(.invalidArgument, "there is no defining request \"\(unknown)\"")
        }
        let chosen = all.filter { names?.contains($0.request.name) ?? true }
        let stored = DownloadedRecords()
        let watch = context.watchChanges { stored.note($0) }
        defer { withExtendedLifetime(watch) {} }
        var result = DownloadResult()
        var failure: (any Error)?
        for (index, defined) in chosen.enumerated() {
            var run = RequestDownload(store: self, defined: defined, allowsMassRemoval: allowsMassRemoval)
            if let progress {
                let (steps, name) = (chosen.count, defined.request.name)
                run.report = { table, rows, bytes in
                    progress(
                        DownloadProgress(
                            step: index + 1, steps: steps, request: name, table: table, rows: rows, bytes: bytes))
                }
            }
            do {
                try await run.carryOut()
                result.requests.append(defined.request.name)
            } catch {
                failure = failure ?? error
                try await run.note(error)
                let code = (error as? SluiceError)?.code
                if error is CancellationError || code == .network || code == .cancelled {
                    try? await stored.save(to: context.store)
                    throw error
                }
            }
            result.stored += run.result.stored
            result.removed += run.result.removed
        }
        // A disk that is full cannot take this either.
        do { try await stored.save(to: context.store) } catch { failure = failure ?? error }
        if let failure { throw failure }
        return result
    }
}
