import Foundation

/// Stands before a server, passes all requests on, and writes each down.
final class Door: Sendable {
    private static let script = """
        import gzip, http.client, http.server, json, sys
        class Door(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                parts = ""
                plain = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
                if self.path.endswith("$batch"): parts = " of %d" % len(json.loads(plain)["requests"])
                sys.stdout.write("%s %s%s\\n" % (self.command, self.path.split("?")[0], parts))
                server = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
                server.request(self.command, self.path, body, dict(self.headers))
                answer = server.getresponse()
                content = answer.read()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("transfer-encoding", "content-length"): self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            do_GET = do_POST = do_PATCH = do_DELETE = pass_on
            def log_message(self, *a): pass
        door = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Door)
        print(door.server_address[1], flush=True)
        door.serve_forever()
        """

    private let process: PythonServer
    var endpoint: String { "http://127.0.0.1:\(process.port)" }

    init(_ scratch: Scratch, before server: ServeProcess) async throws {
        process = try await PythonServer(scratch, Self.script, ["\(server.port)"])
    }

    /// The requests so far, as `POST /tables/notes`; a batch with the number of its parts, `POST /tables/$batch of 4`.
    var requests: [String] { process.lines }

    func stop() { process.stop() }
}
