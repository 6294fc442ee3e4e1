internal import NIOSSL

/// Failures of TLS in one sentence each, with what to look at.
enum TLSReason {
    /// The words of BoringSSL's reasons, each with what it means for whoever set the address.
    private static let reasons = [
        (
            "CERTIFICATE_VERIFY_FAILED",
            "the server's certificate is not trusted: it has expired, or is of an authority that neither this machine "
                + "nor the configured file of authorities knows"
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

    /// The reason; nil for an error that is none of TLS.
    static func text(of error: any Error) -> String? {
        switch error {
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            return "the server's certificate is for another name; see the host in the address"
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            // The reasons are in the text alone, among the places of BoringSSL's sources.
            let text = "\(error)"
            return reasons.first { text.contains($0.0) }?.1 ?? "the server broke TLS off"
        default: return nil
        }
    }
}
