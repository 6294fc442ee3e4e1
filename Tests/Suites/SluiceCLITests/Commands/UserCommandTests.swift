import Foundation
import Sluice
import Testing

@Suite("Two users of one store, by the command line")
struct UserCommandTests {
    /// By what two sessions are told apart, and how one of them comes back with a new credential.
    private func sessions(_ way: String) -> (ann: [String: String], bob: [String: String], again: [String: String]) {
        switch way {
        case "name":
            (["SLUICE_USER": "ann"], ["SLUICE_USER": "bob"], ["SLUICE_USER": "ann", "SLUICE_TOKEN": "new"])
        case "token":
            (
                ["SLUICE_TOKEN": readableToken("ann", nonce: "1")], ["SLUICE_TOKEN": readableToken("bob", nonce: "1")],
                ["SLUICE_TOKEN": readableToken("ann", nonce: "2")]
            )
        default: (["SLUICE_TOKEN": "opaque-ann"], ["SLUICE_TOKEN": "opaque-bob"], ["SLUICE_TOKEN": "opaque-ann"])
        }
    }

    @Test(
        "the second's pull starts afresh and says why, and its push holds the first's changes",
        arguments: ["name", "token", "credential"])
    func twoUsers(_ way: String) async throws {
        try await withServer { server, scratch in
            let (store, other) = (scratch.file("one.db"), scratch.file("two.db"))
            let to = ["--endpoint", server.endpoint, "--json"]
            let (ann, bob, again) = sessions(way)
            func run(
                _ arguments: [String], as user: [String: String], in store: String = store, status: Int32 = 0
            ) async throws -> JSON {
                let result = try await Program.sluice.run(arguments + ["--store", store] + to, environment: user)
                #expect(result.status == status, "\(arguments): \(result)")
                #expect(!result.output.contains("opaque-") && !result.errors.contains("opaque-"))
                return try result.json
            }
            _ = try await run(["insert", "notes", #"{"id":"shared"}"#], as: [:], in: other)
            _ = try await run(["push"], as: [:], in: other)
            let first = try await run(["sync", "notes"], as: ann)
            #expect(first["pulls"]?[0]?["reasons"] == [])
            // As when it was made without a credential: it is the change of who has pulled into this store.
            _ = try await run(["insert", "notes", #"{"id":"anns"}"#], as: [:])
            // A credential names nobody who would come back for the change.
            let status: Int32 = way == "credential" ? 5 : 0
            let held = try await run(["sync", "notes"], as: bob, status: status)
            #expect(held["push"]?["applied"] == 0 && held["push"]?["ofOthers"] == 1)
            #expect(held["pulls"]?[0]?["reasons"] == ["otherUser"] && held["pulls"]?[0]?["stored"] == 1)
            #expect(try await run(["sync", "notes"], as: bob, status: status)["pulls"]?[0]?["reasons"] == [])
            #expect(try await run(["push"], as: again)["applied"] == 1)
            _ = try await run(["insert", "notes", #"{"id":"more"}"#], as: again)
            #expect(try await run(["queue", "take"], as: bob)["taken"] == 1)
            #expect(try await run(["push"], as: bob)["applied"] == 1)
            // Nothing of a credential is kept.
            let bytes = FileManager.default.contents(atPath: store) ?? Data()
            #expect(bytes.range(of: Data("opaque-".utf8)) == nil)
        }
    }

    @Test("a name by the option and in the file tells who it is")
    func named() async throws {
        try await withServer { server, scratch in
            let config = try scratch.write("sync.yaml", "endpoint: \(server.endpoint)\nstore: s.db\nuser: ann\n")
            _ = try await Program.sluice("insert", "notes", #"{"id":"1"}"#, "--config", config)
            let list = try await Program.sluice("queue", "list", "--config", config, "--json")
            #expect(list.output.contains(#""user":"ann""#))
            let push = try await Program.sluice("push", "--config", config, "--user", "bob", "--json")
            #expect(try push.json["applied"] == 0)
            #expect(try await Program.sluice("push", "--config", config, "--json").json["applied"] == 1)
        }
    }
}
