internal import AsyncHTTPClient
internal import HTTPTypes
internal import NIOCore
internal import NIOPosix
internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Makes errors of Sluice of what the HTTP client throws. A message names the server by host and port at the most:
/// queries and header fields may hold what is not for a log.
struct TransportErrors: Sendable {
    private let context: RequestContext
    private let server: String
    let isHead: Bool

    init(_ request: Request) {
        context = request.context
        // A caller's own authority may hold credentials before an @.
        server = request.head.authority?.split(separator: "@").last.map(String.init) ?? ""
        isHead = request.head.method == .head
    }

    func error(_ code: SluiceError.Code, _ message: String, cause: (any Error)? = nil) -> SluiceError {
        SluiceError(
            code, message, table: context.table, recordID: context.recordID, operationID: context.operationID,
            cause: cause)
    }

    /// The deadline is over.
    var late: SluiceError {
        error(.timeout, "the exchange with \(server) \(context.limits.tooLong)")
    }

    /// An error before the answer's head was there.
    func beforeHead(_ cause: any Error) -> SluiceError {
        if let known = known(cause) { return known }
        switch cause as? HTTPClientError {
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout:
            return error(.network, "\(server) cannot be reached", cause: RequestNotSent("the connection took too long"))
        case .invalidURL, .emptyHost, .emptyScheme:
            return error(.invalidArgument, "the request's address is no URL")
        default: break
        }
        if let failure = cause as? NIOConnectionError {
            let reason = failure.connectionErrors.first.map { Self.reason($0.error) } ?? "the name is not known"
            return error(.network, "\(server) cannot be reached", cause: RequestNotSent(reason))
        }
        if let reason = TLSReason.text(of: cause) {
            return error(.network, "no TLS connection to \(server): \(reason)", cause: RequestNotSent(reason))
        }
        if let failure = cause as? IOError, failure.errnoCode == ECONNREFUSED {
            return error(.network, "\(server) cannot be reached", cause: RequestNotSent(Self.reason(failure)))
        }
        return error(.network, "the connection to \(server) broke: \(Self.reason(cause))")
    }

    /// An error after the answer's head.
    func insideBody(_ cause: any Error) -> SluiceError {
        if let known = known(cause) { return known }
        return error(.network, "the answer of \(server) broke off: \(Self.reason(cause))")
    }

    private func known(_ cause: any Error) -> SluiceError? {
        if let cause = cause as? SluiceError { return cause }
        // The HTTP client names some other reason for an exchange that ends because its task is cancelled.
        if cause is CancellationError || Task.isCancelled { return error(.cancelled, "the request was cancelled") }
        switch cause as? HTTPClientError {
        case .cancelled: return error(.cancelled, "the request was cancelled")
        case .deadlineExceeded:
            return late
        case .readTimeout, .writeTimeout: return error(.timeout, "\(server) fell silent")
        default: return nil
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError: error.shortDescription
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case ChannelError.eof, ChannelError.inputClosed, ChannelError.ioOnClosedChannel: "it was closed"
        default: TLSReason.text(of: error) ?? "\(error)"
        }
    }
}
