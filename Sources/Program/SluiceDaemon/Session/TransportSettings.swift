internal import Foundation
internal import Sluice
internal import SluiceConfiguration
internal import SluiceSignOn

/// The files for TLS and the proxy by which an endpoint, and the server of its tokens, are reached.
package struct TransportSettings: Sendable {
    private let tls: TLSFiles
    private let proxy: ProxySettings

    /// Reads the configuration. Without `proxy` the environment's proxies are used.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` with the place of an address that is none.
    init(_ values: SettingValues) throws {
        tls = TLSFiles(
            certificate: try values.path("tls.certificate-file"), key: try values.path("tls.key-file"),
            authorities: try values.path("tls.authorities-file"))
        func refuse(_ key: String, _ reason: String) -> SluiceError {
            SluiceError(.invalidArgument, "\(values.origin(key)): \(reason)")
        }
        guard let address = values.text("proxy"), address != "none" else {
            for key in ["no-proxy", "proxy-credentials-file"] where values.text(key) != nil {
                throw refuse(key, "\(key) belongs to a proxy, and none is configured")
            }
            proxy = values.text("proxy") == nil ? .environment : .none
            return
        }
        // The configuration is shown by `sluice config explain`.
        if address.contains("@") {
            throw refuse("proxy", "name and password of a proxy go into proxy-credentials-file")
        }
        let credentials = try values.path("proxy-credentials-file").map { path in
            guard let text = CredentialText.read(path), text.contains(":"), CredentialText.isUsable(text) else {
                throw refuse("proxy-credentials-file", "\(path) cannot be read, or has no line name:password")
            }
            return text
        }
        proxy = ProxySettings(address, credentials: credentials, exceptions: values.list("no-proxy") ?? [])
        do {
            try proxy.validate()
        } catch {
            throw refuse("proxy", error.message)
        }
    }

    /// Returns a transport with these files through that proxy.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the unusable file.
    func transport() throws -> AsyncHTTPTransport {
        try tls == TLSFiles() ? AsyncHTTPTransport(proxy: proxy) : AsyncHTTPTransport(tls: tls, proxy: proxy)
    }
}
