internal import Sluice

extension TLSFiles {
    /// Reads the paths of an endpoint's TLS files from the configuration.
    init(_ values: SettingValues) throws {
        self.init(
            certificate: try values.path("tls.certificate-file"), key: try values.path("tls.key-file"),
            authorities: try values.path("tls.authorities-file"))
    }

    /// Returns a transport with these files.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the unusable file.
    func transport() throws -> AsyncHTTPTransport {
        try self == TLSFiles() ? AsyncHTTPTransport() : AsyncHTTPTransport(tls: self)
    }
}
