import Foundation
import RepositoryFiles
import Sluice
import Testing

@Suite("Networks: proxies and sign-on by the configuration", .timeLimit(.minutes(5)))
struct NetworkSettingsTests {
    /// A tables server that prints who asks it, and an OAuth server that gives what it is told.
    private static let server = """
        import http.server, sys
        class Server(http.server.BaseHTTPRequestHandler):
            waits = 1
            def give(self, status, body):
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def do_POST(self):
                form = self.rfile.read(int(self.headers["Content-Length"])).decode()
                print(self.path, form, flush=True)
                if self.path == "/code":
                    return self.give(200, b'{"device_code":"d","user_code":"AB-CD","verification_uri":"https://x.example","interval":1}')
                if self.path.startswith("/.auth/"):
                    return self.give(200, b'{"authenticationToken":"app-token"}')
                if "device_code" in form and Server.waits:
                    Server.waits -= 1
                    return self.give(400, b'{"error":"authorization_pending"}')
                self.give(200, b'{"access_token":"granted","refresh_token":"kept"}')
            def do_GET(self):
                print("tables", self.headers["Authorization"], self.headers["X-ZUMO-AUTH"], flush=True)
                self.give(200, b"[]")
            def log_message(self, *a): pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        print(server.server_address[1], flush=True)
        server.serve_forever()
        """

    /// A proxy for CONNECT that asks for ann:secret.
    private static let proxy = """
        import socket, threading
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        def pump(a, b):
            try:
                while data := a.recv(65536): b.sendall(data)
            except OSError: pass
            b.close()
        def serve(client):
            head = b""
            while not head.endswith(b"\\r\\n\\r\\n"):
                piece = client.recv(1)
                if not piece: return
                head += piece
            lines = head.decode().split("\\r\\n")
            print(lines[0], flush=True)
            if "basic yw5uonnly3jlda==" not in head.decode().lower():
                client.sendall(b"HTTP/1.1 407 Who\\r\\nContent-Length: 0\\r\\n\\r\\n")
                return client.close()
            host, port = lines[0].split(" ")[1].rsplit(":", 1)
            server = socket.create_connection((host, int(port)))
            client.sendall(b"HTTP/1.1 200 OK\\r\\n\\r\\n")
            threading.Thread(target=pump, args=(server, client), daemon=True).start()
            pump(client, server)
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """

    @Test("proxy, no-proxy and proxy-credentials-file say how the server is reached; without them the environment does")
    func proxy() async throws {
        try await withScratch { scratch in
            let server = try await PythonServer(scratch, Self.server)
            let proxy = try await PythonServer(scratch, Self.proxy)
            defer {
                server.stop()
                proxy.stop()
            }
            try scratch.write("password", "ann:secret\n")
            func pull(_ more: String, _ environment: [String: String] = [:]) async throws -> Program.Result {
                let config = try scratch.write(
                    "sync.yaml",
                    "endpoint: http://127.0.0.1:\(server.port)\nstore: local.db\ntables: { notes: }\n\(more)\n")
                return try await Program.sluice("pull", "notes", "--config", config, environment: environment)
            }
            let through = "proxy: http://127.0.0.1:\(proxy.port)"
            #expect(try await pull("\(through)\nproxy-credentials-file: password").status == 0)
            #expect(proxy.lines.first == "CONNECT 127.0.0.1:\(server.port) HTTP/1.1")
            let asked = server.lines.count
            #expect(asked > 0)
            let refused = try await pull(through)
            #expect(refused.status == 3, "\(refused)")
            #expect(refused.errors.contains("the proxy 127.0.0.1:\(proxy.port) asks for credentials"))
            #expect(server.lines.count == asked)
            let seen = proxy.lines.count
            #expect(try await pull("\(through)\nno-proxy: [127.0.0.0/8]").status == 0)
            let variables = ["http_proxy": "http://ann:secret@127.0.0.1:\(proxy.port)"]
            #expect(try await pull("proxy: none", variables).status == 0)
            #expect(proxy.lines.count == seen && server.lines.count > asked)
            #expect(try await pull("", variables).status == 0)
            #expect(proxy.lines.count > seen)
            for alone in ["no-proxy: [localhost]", "proxy-credentials-file: password\nproxy: none"] {
                let refused = try await pull(alone)
                #expect(refused.status == 2 && refused.errors.contains("none is configured"), "\(refused)")
            }
            let shown = try await pull("proxy: http://ann:secret@127.0.0.1:1")
            #expect(shown.status == 2 && !shown.errors.contains("secret"), "\(shown)")
        }
    }

    private func run(
        _ scratch: Scratch, _ server: PythonServer, _ settings: String, _ command: [String] = ["pull", "notes"]
    ) async throws -> Program.Result {
        let settings = settings.replacing("SERVER", with: "http://127.0.0.1:\(server.port)")
        let config = try scratch.write(
            "sync.yaml",
            "endpoint: http://127.0.0.1:\(server.port)\nstore: local.db\ntables: { notes: }\n\(settings)\n")
        return try await Program.sluice.run(command + ["--config", config])
    }

    @Test("oauth.device-url: sign-in keeps a refresh token, with which the next command pulls")
    func signIn() async throws {
        try await withScratch { scratch in
            let server = try await PythonServer(scratch, Self.server)
            defer { server.stop() }
            let settings =
                "oauth: { token-url: SERVER/token, device-url: SERVER/code, client-id: kiosk, refresh-token-file: kept }"
            let result = try await run(scratch, server, settings, ["sign-in"])
            #expect(result.status == 0 && result.errors.contains("Open https://x.example and enter AB-CD"), "\(result)")
            #expect(try String(contentsOfFile: scratch.file("kept"), encoding: .utf8) == "kept")
            #expect(try await run(scratch, server, settings).status == 0)
            #expect(server.lines.contains("/token grant_type=refresh_token&refresh_token=kept&client_id=kiosk"))
            #expect(server.lines.last == "tables Bearer granted None")
        }
    }

    @Test("oauth.assertion-key-file, -algorithm, -key-id and -subject: a token is issued for a signed assertion")
    func assertion() async throws {
        try await withScratch { scratch in
            let server = try await PythonServer(scratch, Self.server)
            defer { server.stop() }
            let key = scratch.file("key.pem")
            _ = try await Program(path: "/usr/bin/openssl").run([
                "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key,
            ])
            let result = try await run(
                scratch, server,
                "oauth: { token-url: SERVER/token, client-id: c, assertion-key-file: key.pem, assertion-algorithm: ES256, "
                    + "assertion-key-id: k1, assertion-subject: ann }")
            #expect(result.status == 0, "\(result)")
            let asked = try #require(server.lines.first { $0.hasPrefix("/token") })
            let text = try #require(asked.split(separator: "assertion=").last?.split(separator: "&").first)
            let parts = text.split(separator: ".").map { part in
                let padded = part.replacing("-", with: "+").replacing("_", with: "/")
                let data = Data(base64Encoded: padded + String(repeating: "=", count: (4 - padded.count % 4) % 4))
                return String(decoding: data ?? Data(), as: UTF8.self)
            }
            #expect(parts[0].contains(#""kid":"k1""#) && parts[0].contains(#""ES256""#))
            #expect(parts[1].contains(#""sub":"ann""#) && parts[1].contains(#""iss":"c""#))
            #expect(server.lines.last == "tables Bearer granted None")
        }
    }

    @Test("app-service.provider: the provider's token is exchanged for the app's")
    func appService() async throws {
        try await withScratch { scratch in
            let server = try await PythonServer(scratch, Self.server)
            defer { server.stop() }
            try scratch.write("token", "provider-token")
            let result = try await run(scratch, server, "token-file: token\napp-service: { provider: aad }")
            #expect(result.status == 0, "\(result)")
            #expect(server.lines.first == #"/.auth/login/aad {"access_token":"provider-token"}"#)
            #expect(server.lines.last == "tables None app-token")
            // The provider's token says who the user is, also without a network, and whatever form the app's token has.
            func become(_ name: String) throws {
                try scratch.write("token", "e30.\(Data("{\"sub\":\"\(name)\"}".utf8).base64EncodedString()).c2ln")
            }
            let settings = "token-file: token\napp-service: { provider: aad }"
            try become("ann")
            #expect(try await run(scratch, server, settings).status == 0)
            let asked = server.lines.count
            #expect(try await run(scratch, server, settings, ["insert", "notes", #"{"id":"1"}"#]).status == 0)
            for (name, ofOthers) in [("ann", 0), ("ben", 1)] {
                try become(name)
                let status = try await run(scratch, server, settings, ["status", "--json"])
                #expect(try status.json["ofOthers"]?.int == Int64(ofOthers), "\(name): \(status)")
            }
            #expect(server.lines.count == asked, "no server was asked for that")
        }
    }

    @Test("token-scheme: basic sends name and password")
    func basic() async throws {
        try await withScratch { scratch in
            let server = try await PythonServer(scratch, Self.server)
            defer { server.stop() }
            try scratch.write("token", "ann:secret\n")
            #expect(try await run(scratch, server, "token-file: token\ntoken-scheme: basic").status == 0)
            #expect(server.lines.last == "tables Basic YW5uOnNlY3JldA== None")
        }
    }
}
