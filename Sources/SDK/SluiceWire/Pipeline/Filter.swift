/// A link of the chain that every request passes on its way down and every answer on its way up: push, pull and
/// online.
///
/// A filter may change the request, answer it itself, call `next` none, one or several times, and change the answer.
/// The first filter given is the outermost. Write a filter to change requests; write a ``Transport`` to reach a server
/// in another way.
///
/// ```swift
/// struct APIKey: Filter {
///     let key: String
///     func handle(_ request: Request, next: Next) async throws -> Response {
///         var request = request
///         request.head.headerFields[HTTPField.Name("X-API-Key")!] = key
///         return try await next(request)
///     }
/// }
/// ```
public protocol Filter: Sendable {
    /// Passes a request on to `next`, or answers it.
    ///
    /// - Throws: the errors of `next`, or an error of the filter's own, which reaches the caller as a ``SluiceError``
    ///   of code `filter` that names the filter.
    func handle(_ request: Request, next: Next) async throws -> Response
}

/// The rest of the chain, for a filter.
public typealias Next = @Sendable (Request) async throws -> Response
