internal import AsyncHTTPClient
internal import Foundation
internal import NIOSSL
internal import SluiceCore
internal import Synchronization

/// What TLS needs beside the system's authorities: how the client proves who it is (mutual TLS), and whom it believes too.
/// The server's certificate and name are verified in any case; nothing here switches that off.
public struct TLSFiles: Sendable, Hashable {
    /// The client's certificate and those between it and its authority, in PEM; it needs ``key``.
    public var certificate: String?
    /// The certificate's private key, in PEM without a passphrase.
    public var key: String?
    /// Authorities that are believed beside the system's, in PEM.
    public var authorities: String?

    /// Files by their paths.
    public init(certificate: String? = nil, key: String? = nil, authorities: String? = nil) {
        (self.certificate, self.key, self.authorities) = (certificate, key, authorities)
    }

    /// The configuration that the files make.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the file; nothing of a key is in it.
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

    /// The files' contents, so that renewed ones are seen.
    private var contents: [Data?] {
        [certificate, key, authorities].map { path in path.flatMap { FileManager.default.contents(atPath: $0) } }
    }

    /// The connections of all transports with these contents. They are closed by the process's end: those of files that
    /// were renewed since are idle, and the pool closes idle ones.
    func client(_ base: HTTPClient.Configuration) throws -> HTTPClient {
        let contents = contents
        return try Self.clients.withLock { clients in
            if let client = clients[contents] { return client }
            var configuration = base
            configuration.tlsConfiguration = try self.configuration()
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            clients[contents] = client
            return client
        }
    }

    private static let clients = Mutex<[[Data?]: HTTPClient]>([:])
}
