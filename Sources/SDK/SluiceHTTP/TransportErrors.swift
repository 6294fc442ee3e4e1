internal import AsyncHTTPClient
internal import HTTPTypes
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import SluiceCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Converts errors of the HTTP client to Sluice's. A message names the server at most by host and port: queries and
/// header fields may hold secrets that must not be logged.
struct TransportErrors: Sendable {
    private let context: SyncRequest.Context
    private let server: String
    private let proxy: ProxyServer?
    let isHead: Bool

    init(_ request: SyncRequest, through proxy: ProxyServer? = nil) {
        self.proxy = proxy
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

    /// The error for a missed deadline.
    var late: SluiceError {
        error(.timeout, "the exchange with \(server) \(context.limits.tooLong)")
    }

    /// Converts an error before the answer's head.
    func beforeHead(_ cause: any Error) -> SluiceError {
        if let known = known(cause) { return known }
        switch cause as? HTTPClientError {
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout:
            return error(.network, "\(server) cannot be reached", cause: RequestNotSent("the connection took too long"))
        // The proxy's answers to CONNECT: the server has seen nothing.
        case .proxyAuthenticationRequired:
            let reason =
                "the proxy \(proxy?.description ?? "") asks for credentials, or does not take those that it got"
            return error(.network, "\(server) cannot be reached: \(reason)", cause: RequestNotSent(reason))
        case .invalidProxyResponse, .httpProxyHandshakeTimeout:
            let reason = "the proxy \(proxy?.description ?? "") makes no connection to it"
            return error(.network, "\(server) cannot be reached: \(reason)", cause: RequestNotSent(reason))
        case .invalidURL, .emptyHost, .emptyScheme:
            return error(.invalidArgument, "the request's address is no URL")
        default: break
        }
        if let failure = cause as? NIOConnectionError {
            let reason = failure.connectionErrors.first.map { Self.reason($0.error) } ?? "the name is not known"
            let name = proxy.map { "\(server), through the proxy \($0)," } ?? server
            return error(.network, "\(name) cannot be reached", cause: RequestNotSent(reason))
        }
        if let reason = TLSReason.text(of: cause) {
            return error(.network, "no TLS connection to \(server): \(reason)", cause: RequestNotSent(reason))
        }
        if let failure = cause as? IOError, failure.errnoCode == ECONNREFUSED {
            return error(.network, "\(server) cannot be reached", cause: RequestNotSent(Self.reason(failure)))
        }
        return error(.network, "the connection to \(server) broke: \(Self.reason(cause))")
    }

    /// Converts an error after the answer's head.
    func insideBody(_ cause: any Error) -> SluiceError {
        if let known = known(cause) { return known }
        return error(.network, "the answer of \(server) broke off: \(Self.reason(cause))")
    }

    private func known(_ cause: any Error) -> SluiceError? {
        if let cause = cause as? SluiceError { return cause }
        // The HTTP client reports some other reason when an exchange ends because its task is cancelled.
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

/// Failures of TLS in one sentence each, with a hint at the cause.
enum TLSReason {
    /// The names of BoringSSL's reasons, each with its meaning for the person who set the address.
    private static let reasons = [
        (
            "CERTIFICATE_VERIFY_FAILED",
            "the server's certificate is not trusted: it has expired or is not valid yet by this machine's clock, or is of an "
                + "authority that neither this machine nor the configured file of authorities knows"
        ),
        (
            "WRONG_VERSION_NUMBER",
            "the server does not speak TLS there; see whether the address is to begin with http://"
        ),
        ("HTTP_REQUEST", "the server does not speak TLS there; see whether the address is to begin with http://"),
        ("CERTIFICATE_REQUIRED", "the server asks for a client's certificate"),
        ("BAD_CERTIFICATE", "the server does not accept this client's certificate"),
        ("UNKNOWN_CA", "the server does not know the authority of this client's certificate"),
        ("CERTIFICATE_EXPIRED", "the server says that this client's certificate has expired"),
        ("UNSUPPORTED_PROTOCOL", "the server speaks versions of TLS only that are not safe"),
        ("PROTOCOL_VERSION", "the server and this machine have no version of TLS in common"),
        ("HANDSHAKE_FAILURE", "the server and this machine could not agree on how to encrypt"),
    ]

    /// Returns the reason; nil for an error that is none of TLS.
    static func text(of error: any Error) -> String? {
        switch error {
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            return "the server's certificate is for another name; see the host in the address"
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            // The reasons appear only in the text, between positions in BoringSSL's sources.
            let text = "\(error)"
            return reasons.first { text.contains($0.0) }?.1 ?? "the server broke TLS off"
        default: return nil
        }
    }
}
