internal import Sluice

extension TLSFiles {
    /// What the configuration says of an endpoint's TLS.
    init(_ values: SettingValues) throws {
        self.init(
            certificate: try values.path("tls.certificate-file"), key: try values.path("tls.key-file"),
            authorities: try values.path("tls.authorities-file"))
    }

    /// A transport with these files.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names a file that cannot be used.
    func transport() throws -> AsyncHTTPTransport {
        try self == TLSFiles() ? AsyncHTTPTransport() : AsyncHTTPTransport(tls: self)
    }
}
