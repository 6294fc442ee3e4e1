/// A link of the chain that every request passes on its way down and every answer on its way up: push, pull and
/// online.
///
/// A filter may change the request, answer it itself, call `next` none, one or several times, and change the answer.
/// The first filter given is the outermost. Write a ``RequestTransform`` to change requests and answers only, a filter to wait,
/// to repeat or to answer, and a ``Transport`` to reach a server in another way.
///
/// ```swift
/// struct Patience: RequestFilter {
///     func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
///         let response = try await next(request)
///         return response.status == 423 ? try await next(request) : response
///     }
/// }
/// ```
public protocol RequestFilter: Sendable {
    /// Passes a request on to `next`, or answers it.
    ///
    /// - Throws: the errors of `next`, or an error of the filter's own, which reaches the caller as a ``SluiceError``
    ///   of code `filter` that names the filter.
    func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse

    /// Whether the changes of a push may pass the filter together, to be sent as one batch: each change's `next` then
    /// waits for the following ones, so the filter must not keep another request from passing while it waits.
    ///
    /// Default `false`, and `true` for a ``RequestTransform``. A client with a filter that says `false` sends one change in a
    /// request, except for those of a group.
    var takesPages: Bool { get }
}

extension RequestFilter {
    /// `false`: one change goes in a request.
    public var takesPages: Bool { false }
}

extension RequestFilter {
    /// The rest of the chain, for a filter.
    public typealias Next = @Sendable (SyncRequest) async throws -> SyncResponse
}

/// A filter that changes a request on its way down and its answer on the way up, at once and without a wait. A push passes
/// many changes through it and sends them in one batch.
///
/// ```swift
/// struct APIKey: RequestTransform {
///     let key: String
///     func request(_ request: SyncRequest) throws -> SyncRequest {
///         var request = request
///         request.head.headerFields[HTTPField.Name("X-API-Key")!] = key
///         return request
///     }
/// }
/// ```
public protocol RequestTransform: RequestFilter {
    /// Returns the request to pass on.
    ///
    /// - Throws: an error of the filter's own; then the request is not sent.
    func request(_ request: SyncRequest) throws -> SyncRequest

    /// Returns the answer to pass back.
    ///
    /// - Parameter request: the request as it was passed on.
    /// - Throws: an error of the filter's own, in place of the answer.
    func response(_ response: SyncResponse, to request: SyncRequest) throws -> SyncResponse
}

extension RequestTransform {
    /// `true`: a transform waits for nothing.
    public var takesPages: Bool { true }

    /// Returns the answer as it came.
    public func response(_ response: SyncResponse, to request: SyncRequest) throws -> SyncResponse { response }

    /// Passes the changed request on, and the changed answer back.
    ///
    /// - Throws: the errors of `next` and the filter's own.
    public func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
        let changed = try self.request(request)
        return try response(try await next(changed), to: changed)
    }
}
