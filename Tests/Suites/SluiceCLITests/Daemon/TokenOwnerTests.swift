import Foundation
import Sluice
import Testing

@Suite("A token file that passes from one user to another under a daemon", .timeLimit(.minutes(5)))
struct TokenOwnerTests {
    private static let quick =
        "token-file: token\nschedule: { spread: 0s, interval: 1h, change-delay: 10ms, on-event: false }\n"

    private func isOnServer(_ id: String, _ server: ServeProcess, _ scratch: Scratch) async throws -> Bool {
        let other = ["--store", scratch.file("\(UUID().uuidString).db"), "--endpoint", server.endpoint]
        _ = try await Program.sluice.run(["pull", "notes"] + other)
        return try await Program.sluice.run(["get", "notes", id] + other).status == 0
    }

    @Test(
        "the first's change is held while the token is the second's, and sent when the first is back",
        arguments: [
            (readableToken("ann"), readableToken("ben"), readableToken("ann", nonce: "2")),
            ("opaque-ann", "opaque-ben", "opaque-ann"),
        ])
    func passesOn(_ ann: String, _ ben: String, _ again: String) async throws {
        try await withDaemon(Self.quick, files: ["token": ann]) { daemon, server, scratch in
            let here = ["--config", daemon.config]
            #expect(try await daemon.ctl("pause").status == 0)
            #expect(try await Program.sluice.run(["insert", "notes", #"{"id":"anns"}"#] + here).status == 0)
            try scratch.write("token", ben)
            #expect(try await daemon.ctl("resume").status == 0)
            _ = try await daemon.ctl("sync")
            try await until("a session of the second has begun") { daemon.log.contains("of another user now") }
            #expect(try await Program.sluice.run(["insert", "notes", #"{"id":"bens"}"#] + here).status == 0)
            try await until("the second's is sent") { try await isOnServer("bens", server, scratch) }
            // A credential names nobody who would come back for the change, so it needs attention, as without a daemon.
            let synced = try await daemon.ctl("sync")
            #expect(synced.status == (ann.hasPrefix("opaque") ? 5 : 0), "\(synced)")
            #expect(try await !isOnServer("anns", server, scratch))
            try scratch.write("token", again)
            _ = try await daemon.ctl("sync")
            try await until("the first's is sent") { try await isOnServer("anns", server, scratch) }
        }
    }

    @Test("a user whom the settings name keeps the owner of the first token: another's is not used")
    func configured() async throws {
        let settings = Self.quick + "user: ann\n"
        try await withDaemon(settings, files: ["token": readableToken("ann")]) { daemon, server, scratch in
            let here = ["--config", daemon.config]
            #expect(try await daemon.ctl("sync").status == 0)
            try scratch.write("token", readableToken("ben"))
            #expect(try await Program.sluice.run(["insert", "notes", #"{"id":"anns"}"#] + here).status == 0)
            let refused = try await daemon.ctl("sync")
            #expect(refused.status == 4 && (refused.output + refused.errors).contains("of another user now"))
            // A reload, which the changed file causes too, does not make it ann's.
            #expect(try await daemon.ctl("reload").status == 0)
            #expect(try await daemon.ctl("sync").status == 4)
            #expect(try await !isOnServer("anns", server, scratch))
            try scratch.write("token", readableToken("ann", nonce: "2"))
            #expect(try await daemon.ctl("sync").status == 0)
            #expect(try await isOnServer("anns", server, scratch))
        }
    }
}
