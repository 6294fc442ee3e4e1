import Foundation
import Sluice
import Testing

@Suite(.timeLimit(.minutes(5))) struct InspectorTests {
    /// Signs in with an address of the command, and gives what asks with the cookie.
    private func signedIn(_ daemon: DaemonProcess) async throws -> (base: String, curl: Curl, cookie: String) {
        let address = try await Program.sluice("inspector", "--config", daemon.config).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let parts = address.split(separator: "/inspector/", maxSplits: 1)
        let base = String(try #require(parts.first))
        let result = try await Curl.program.run(["-si", address])
        let line = try #require(
            result.output.split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix("set-cookie") })
        #expect(line.contains("HttpOnly") && line.contains("SameSite=Strict") && line.contains("Path=/inspector"))
        #expect(result.output.contains(" 303 "))
        let cookie = line.split(separator: ":", maxSplits: 1)[1].split(separator: ";")[0]
            .trimmingCharacters(in: .whitespaces)
        // The address has been used.
        #expect(try await Curl.program.run(["-si", address]).output.contains(" 401 "))
        return (base, Curl(base: [base]), cookie)
    }

    @Test(
        "only who is signed in comes in, by this machine's name and from no other origin; the page loads nothing else")
    func access() async throws {
        try await withDaemon("inspector: { port: 0 }") { daemon, _, _ in
            let (base, curl, cookie) = try await signedIn(daemon)
            #expect(!daemon.log.contains("token="))
            let right = "Cookie: \(cookie)"
            #expect(try await curl("GET", "/inspector/").status == 401)
            #expect(try await curl("GET", "/inspector/inspector.js").status == 401)
            #expect(try await curl("GET", "/inspector/api/status").status == 401)
            #expect(try await curl("GET", "/inspector/api/status", nil, right).status == 200)
            #expect(try await curl("GET", "/inspector/api/status", nil, right, "Host: rebound.example").status == 421)
            #expect(
                try await curl("GET", "/inspector/api/status", nil, right, "Origin: http://127.0.0.1:1").status == 403)
            #expect(
                try await curl("GET", "/inspector/api/status", nil, right, "Sec-Fetch-Site: same-site").status == 403)
            #expect(try await curl("GET", "/inspector/../daemon.yaml", nil, right).status == 404)
            #expect(try await curl("GET", "/inspector/nothing.js", nil, right).status == 404)
            #expect(try await curl("GET", "/inspector/policy.js", nil, right).status == 200)
            let head = try await Curl.program.run(["-si", "\(base)/inspector/", "-H", right]).output.lowercased()
            #expect(head.contains("content-security-policy: default-src 'none'; script-src 'self'"))
            #expect(head.contains("cache-control: no-store") && !head.contains("unsafe-inline"))
            let page = head.split(separator: "\r\n\r\n").last ?? ""
            #expect(page.contains("<script") && !page.contains("http://") && !page.contains("https://"))
            // An action is JSON and a POST.
            let form = try await Curl.program.run([
                "-s", "-o", "/dev/null", "-w", "%{http_code}", "-X", "POST", "-d", "{}",
                "\(base)/inspector/api/daemon/pause", "-H", right,
            ])
            #expect(form.output == "415")
            #expect(try await curl("GET", "/inspector/api/daemon/pause", nil, right).status == 404)
            #expect(try await daemon.status()["state"] == "running")
            #expect(try await curl("POST", "/inspector/api/daemon/pause", "{}", right).status == 200)
            #expect(try await daemon.status()["state"] == "paused")
        }
    }

    @Test("read-only shows and changes nothing; bodies are in the timeline where they are asked for")
    func readOnly() async throws {
        try await withDaemon(
            "inspector: { port: 0, read-only: true, bodies: true }\nschedule: { spread: 0s, change-delay: 10ms }"
        ) { daemon, _, _ in
            let (_, curl, cookie) = try await signedIn(daemon)
            let right = "Cookie: \(cookie)"
            let refused = try await curl("POST", "/inspector/api/daemon/pause", "{}", right)
            #expect(refused.status == 409 && refused.body["error"]?["message"]?.string?.contains("read-only") == true)
            #expect(
                try await Program.sluice("insert", "notes", #"{"id":"a","text":"canary"}"#, "--config", daemon.config)
                    .status == 0)
            try await until("the exchange is shown with its body") {
                try await curl("GET", "/inspector/api/timeline", nil, right).body.description.contains("canary")
            }
            #expect(try await curl("GET", "/inspector/api/rows?table=notes", nil, right).body["count"] == 1)
            // As a form of a page writes it: with plus signs for blanks.
            let filtered = "/inspector/api/rows?table=notes&filter=text+eq+%27canary%27"
            #expect(try await curl("GET", filtered, nil, right).body["count"] == 1)
            let wrong = try await curl("GET", "/inspector/api/rows?table=sluice_operations", nil, right)
            #expect(wrong.status == 400)
        }
    }

    @Test("without inspector.port there is none, and the command says what to do")
    func off() async throws {
        try await withDaemon { daemon, _, _ in
            let result = try await Program.sluice("inspector", "--config", daemon.config)
            #expect(result.status != 0 && result.errors.contains("inspector.port"), "\(result)")
        }
    }
}
