import Foundation
import Sluice
import Testing

@Suite(
    .timeLimit(.minutes(5)), .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/openssl"), "needs openssl"))
struct TLSTests {
    /// A server of tables with nothing in them, which asks for a client's certificate.
    private static let server = """
        import http.server, ssl, sys
        folder = sys.argv[1]
        class Tables(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def do_GET(self):
                print(self.connection.getpeercert()["subject"][0][0][1], flush=True)
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"[]")
            def log_message(self, *a): pass
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder + "/server.pem", folder + "/server.key")
        context.load_verify_locations(folder + "/authority.pem")
        context.verify_mode = ssl.CERT_REQUIRED
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tables)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        print(server.server_address[1], flush=True)
        server.serve_forever()
        """

    /// Makes an authority, and a certificate of its own for the server and for a client.
    private func certificates(_ scratch: Scratch) async throws {
        let openssl = Program(path: "/usr/bin/openssl")
        func run(_ text: String) async throws {
            let result = try await openssl.run(text.split(separator: " ").map(String.init), in: scratch.path)
            #expect(result.status == 0, "\(result)")
        }
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
        try await run("req -x509 \(key) -keyout authority.key -out authority.pem -subj /CN=authority -days 2")
        try scratch.write("server.ext", "subjectAltName=DNS:localhost\n")
        try scratch.write("client.ext", "extendedKeyUsage=clientAuth\n")
        for name in ["server", "client"] {
            try await run("req \(key) -keyout \(name).key -out \(name).csr -subj /CN=\(name)")
            try await run(
                "x509 -req -in \(name).csr -CA authority.pem -CAkey authority.key -CAcreateserial -out \(name).pem "
                    + "-days 2 -extfile \(name).ext")
        }
    }

    @Test("a client shows its certificate and believes the authority it is given, and neither is to be had for less")
    func mutual() async throws {
        try await withScratch { scratch in
            try await certificates(scratch)
            let server = try await PythonServer(scratch, Self.server, [scratch.path])
            defer { server.stop() }
            func pull(_ tls: String, host: String = "localhost") async throws -> Program.Result {
                let config = try scratch.write(
                    "sync-\(UUID().uuidString).yaml",
                    "endpoint: https://\(host):\(server.port)\nstore: \(UUID().uuidString).db\ntables: { notes: }\n"
                        + "retry: { attempts: 1 }\n\(tls)\n")
                return try await Program.sluice("pull", "notes", "--config", config)
            }
            let identity = "certificate-file: client.pem, key-file: client.key"
            let good = try await pull("tls: { \(identity), authorities-file: authority.pem }")
            #expect(good.status == 0, "\(good)")
            #expect(server.lines == ["client"])
            // Without a certificate, without the authority, and under another name there is no answer.
            #expect(try await pull("tls: { authorities-file: authority.pem }").status == 3)
            #expect(try await pull("tls: { \(identity) }").status == 3)
            #expect(
                try await pull("tls: { \(identity), authorities-file: authority.pem }", host: "127.0.0.1").status == 3)
            #expect(server.lines == ["client"])
            // A mistake is told with the file, and nothing of the key.
            let half = try await pull("tls: { certificate-file: client.pem }")
            #expect(half.status == 2 && half.errors.contains("needs its key"), "\(half)")
            let missing = try await pull("tls: { certificate-file: client.pem, key-file: nothing.key }")
            #expect(missing.status == 2 && missing.errors.contains("nothing.key"), "\(missing)")
        }
    }
}
