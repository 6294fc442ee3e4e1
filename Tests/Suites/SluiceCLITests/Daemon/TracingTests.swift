import Foundation
import Sluice
import Testing

@Suite(.timeLimit(.minutes(5))) struct TracingTests {
    /// Takes what is posted, and prints it a line each with the path and the type of the content.
    private static let collector = """
        import http.server, json
        class Collector(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                print(json.dumps([self.path, self.headers["Content-Type"], json.loads(body)]), flush=True)
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")
            def log_message(self, *a): pass
        server = http.server.HTTPServer(("127.0.0.1", 0), Collector)
        print(server.server_address[1], flush=True)
        server.serve_forever()
        """

    private func spans(_ collector: PythonServer) throws -> [JSON] {
        try collector.lines.flatMap { line in
            let posted = try JSON(parsing: line)
            #expect(posted[0] == "/v1/traces" && posted[1] == "application/json")
            let resource = posted[2]?["resourceSpans"]?[0]
            #expect(resource?["resource"]?["attributes"]?[0]?["value"]?["stringValue"] == "shop-sync")
            return resource?["scopeSpans"]?[0]?["spans"]?.elements ?? []
        }
    }

    @Test("traces go to the collector: push, operation and request as one trace, without a record's content")
    func exports() async throws {
        try await withScratch { scratch in
            let collector = try await PythonServer(scratch, Self.collector)
            defer { collector.stop() }
            try await withDaemon(
                """
                schedule: { spread: 0s, interval: 1h, change-delay: 10ms, on-event: false }
                tracing: { endpoint: "http://127.0.0.1:\(collector.port)/v1/traces", service: shop-sync }
                """
            ) { daemon, _, _ in
                #expect(
                    try await Program.sluice(
                        "insert", "notes", #"{"id":"a","text":"canary"}"#, "--config", daemon.config
                    ).status == 0)
                try await until("the request's span") {
                    try spans(collector).contains { $0["name"] == "HTTP POST" }
                }
                let all = try spans(collector)
                let request = try #require(all.first { $0["name"] == "HTTP POST" })
                let operation = try #require(all.first { $0["spanId"] == request["parentSpanId"] })
                #expect(operation["name"] == "sluice insert" && operation["traceId"] == request["traceId"])
                #expect(request["kind"] == 3 && request["traceId"]?.string?.utf8.count == 32)
                let begin = try #require(request["startTimeUnixNano"]?.string.flatMap { UInt64($0) })
                let end = try #require(request["endTimeUnixNano"]?.string.flatMap { UInt64($0) })
                #expect(begin > 1_700_000_000_000_000_000 && begin <= end)
                let attributes = request["attributes"]?.elements ?? []
                #expect(attributes.contains { $0["key"] == "sluice.record" && $0["value"]?["stringValue"] == "a" })
                #expect(
                    attributes.contains {
                        $0["key"] == "http.response.status_code" && $0["value"]?["intValue"] == "201"
                    })
                #expect(!collector.lines.joined().contains("canary"))
                // What a shutdown finds is sent too.
                #expect(
                    try await Program.sluice("insert", "notes", #"{"id":"b"}"#, "--config", daemon.config).status == 0)
                #expect(try await daemon.ctl("sync").status == 0)
                try await daemon.stop()
                #expect(
                    try spans(collector).contains {
                        $0["name"] == "HTTP POST" && $0.description.contains(#""stringValue":"b""#)
                    })
            }
        }
    }

    @Test("a collector that is away holds nothing up and is told")
    func away() async throws {
        try await withDaemon(
            """
            schedule: { spread: 0s, interval: 1h, change-delay: 10ms }
            tracing: { endpoint: "http://127.0.0.1:9/v1/traces" }
            """
        ) { daemon, _, _ in
            #expect(try await daemon.ctl("sync").status == 0)
            try await until("what was left out is counted") {
                try await daemon.ctl("metrics").output.contains("sluice_daemon_spans_dropped_total")
            }
        }
        try await withScratch { scratch in
            let config = try scratch.write(
                "d.yaml", "endpoint: http://127.0.0.1:1\nstore: a.db\ntables: { t: }\ntracing: { endpoint: nothing }\n")
            let result = try await Program.sluice("daemon", "--config", config)
            #expect(result.status == 2 && result.errors.contains("tracing.endpoint"), "\(result)")
        }
    }
}
