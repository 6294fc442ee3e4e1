internal import Foundation
internal import NIOSSL
internal import SluiceCore
internal import Synchronization

/// Files for TLS beside the system's authorities: the client's proof of identity (mutual TLS), and further authorities
/// to trust. The server's certificate and name are verified in any case; nothing here switches that off.
public struct TLSFiles: Sendable, Hashable {
    /// The client's certificate and the intermediate ones up to its authority, in PEM; it needs ``key``.
    public var certificate: String?
    /// The certificate's private key, in PEM without a passphrase.
    public var key: String?
    /// Authorities that are trusted beside the system's, in PEM.
    public var authorities: String?

    /// Names files by their paths.
    public init(certificate: String? = nil, key: String? = nil, authorities: String? = nil) {
        (self.certificate, self.key, self.authorities) = (certificate, key, authorities)
    }

    /// Returns the TLS configuration made from the files.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the file, and contains nothing of a key.
    func configuration() throws -> TLSConfiguration {
        guard (certificate == nil) == (key == nil) else {
            throw SluiceError(.invalidArgument, "TLS: a certificate needs its key, and a key its certificate")
        }
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let certificate, let key {
            configuration.certificateChain = try Self.read(certificate, "certificates") {
                try NIOSSLCertificate.fromPEMFile($0).map { .certificate($0) }
            }
            configuration.privateKey = try Self.read(key, "private key") {
                .privateKey(try NIOSSLPrivateKey(file: $0, format: .pem))
            }
        }
        if let authorities {
            configuration.additionalTrustRoots = [
                .certificates(
                    try Self.read(authorities, "certificates") { try NIOSSLCertificate.fromPEMFile($0) })
            ]
        }
        return configuration
    }

    private static func read<Result>(_ path: String, _ what: String, _ body: (String) throws -> Result) throws -> Result
    {
        do {
            return try body(path)
        } catch {
            throw SluiceError(.invalidArgument, "TLS: \(path) cannot be read, or has no \(what) in PEM")
        }
    }

    /// The files' contents, compared so that renewed files are noticed.
    private var contents: [Data?] {
        [certificate, key, authorities].map { path in path.flatMap { FileManager.default.contents(atPath: $0) } }
    }

    /// Returns the connections of all transports with these contents. They are closed at the process's end: those of
    /// renewed files become idle, and the pool closes idle ones.
    func connections() throws -> Connections {
        let contents = contents
        return try Self.known.withLock { known in
            if let connections = known[contents] { return connections }
            let connections = Connections(tls: try configuration())
            known[contents] = connections
            return connections
        }
    }

    private static let known = Mutex<[[Data?]: Connections]>([:])
}
