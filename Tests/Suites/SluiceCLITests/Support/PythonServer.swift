import Foundation

/// A small server in Python: the script prints its port first, and what it prints after that can be looked at.
final class PythonServer: Sendable {
    let port: Int
    private let process: Process
    private let outputPath: String

    init(_ scratch: Scratch, _ script: String, _ arguments: [String] = []) async throws {
        let file = try scratch.write("server-\(UUID().uuidString).py", script)
        outputPath = try scratch.write("output-\(UUID().uuidString)", "")
        process = try Program(path: "/usr/bin/env").process(["python3", "-u", file] + arguments)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: outputPath))
        try process.run()
        let (process, path) = (process, outputPath)
        var found: Int?
        try await until("the server's port") {
            guard process.isRunning else { return true }
            found = Self.lines(path).first.flatMap { Int($0) }
            return found != nil
        }
        guard let found else { throw NeverCame(what: "a server") }
        port = found
    }

    private static func lines(_ path: String) -> [String] {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    /// What it printed after its port.
    var lines: [String] { Array(Self.lines(outputPath).dropFirst()) }

    func stop() { process.end() }
}

extension PythonServer {
    /// A web server of files with tags, which counts what it is asked.
    static let files = """
        import hashlib, http.server, os, sys
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                data = open(os.path.join(sys.argv[1], self.path.strip("/")), "rb").read()
                tag = '"' + hashlib.sha256(data).hexdigest()[:16] + '"'
                known = self.headers.get("If-None-Match") == tag
                print("304" if known else "200", flush=True)
                self.send_response(304 if known else 200)
                self.send_header("ETag", tag)
                self.send_header("Content-Length", "0" if known else str(len(data)))
                self.end_headers()
                if not known: self.wfile.write(data)
            def log_message(self, *ignored): pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print(server.server_port, flush=True)
        server.serve_forever()
        """
}
