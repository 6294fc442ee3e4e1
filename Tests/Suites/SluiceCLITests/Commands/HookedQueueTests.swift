import Foundation
import Sluice
import Testing

@testable import SluiceCLI

/// What the hooks of an application have done to a store that the command looks at.
@Suite struct HookedQueueTests {
    /// Has every change wait for an hour, and drops what is of last year.
    private struct Night: SyncHook {
        let hookName = "night"

        func beforePush(_ operation: TableOperation, record: JSON?) async throws -> BeforePushDecision {
            record?["skip"] == true ? .skip(reason: "later") : .defer(.seconds(3600), reason: "at night")
        }

        func afterPull(_ page: PulledPage) async throws -> [PulledRow.Decision] {
            page.rows.map { $0.record["year"] == 2025 ? .drop(reason: "old") : .keep }
        }
    }

    private func application(
        _ path: String, _ server: ServeProcess, _ body: (SyncContext) async throws -> Void
    ) async throws {
        let store = try SQLiteStore(path: path)
        let client = SluiceClient(endpoint: try Endpoint(server.endpoint), transport: AsyncHTTPTransport())
        do {
            var options = SyncOptions()
            options.hooks = [Night()]
            let context = try await SyncContext(client: client, store: store, options: options)
            try await body(context)
            try await store.close()
        } catch {
            try? await store.close()
            throw error
        }
    }

    @Test("what waits for a time is listed and shown with it, and counted by a push, which fails not")
    func postponed() async throws {
        try await withServer { server, scratch in
            let path = scratch.file("local.db")
            var time = ""
            try await application(path, server) { context in
                try await context.table("notes").insert(["id": "n1", "text": "a"])
                let result = try await context.push()
                let operation = try #require(try await context.queue.operations().first)
                time = try #require(operation.notBefore).description
                #expect(
                    SyncReport.text(result)
                        == "push: 0 changes sent, 1 left in the queue, 1 of them postponed by a hook")
                #expect(result.json["postponed"] == 1)
            }
            let list = try await Program.sluice("queue", "list", "--store", path)
            #expect(list.output.contains("not before") && list.output.contains(time))
            let json = try await Program.sluice("queue", "list", "--store", path, "--json").json
            #expect(json["operations"]?[0]?["notBefore"]?.string == time)
            let id = try #require(json["operations"]?[0]?["id"]?.string)
            let show = try await Program.sluice("queue", "show", id, "--store", path)
            #expect(show.output.contains("not before: \(time)") && show.output.contains("at night"))
            let to = ["--store", path, "--endpoint", server.endpoint]
            let push = try await Program.sluice.run(["push"] + to)
            #expect(push.status == 0 && push.output.contains("1 of them postponed by a hook"))
            #expect(try await Program.sluice.run(["push", "--json"] + to).json["postponed"] == 1)
            let sync = try await Program.sluice.run(["sync", "notes", "--json"] + to)
            #expect(try sync.status == 0 && sync.json["push"]?["postponed"] == 1)
            #expect(try sync.json["pulls"]?[0]?["dropped"] == 0)
            let pull = try await Program.sluice.run(["pull", "notes", "--query", "q", "--json"] + to)
            #expect(try pull.json["push"]?["postponed"] == 1)
            // Taken up again, it waits for nothing.
            #expect(try await Program.sluice("queue", "retry", id, "--store", path).status == 0)
            #expect(try await !Program.sluice("queue", "list", "--store", path).output.contains("not before"))
            #expect(try await Program.sluice.run(["push", "--json"] + to).json["applied"] == 1)
        }
    }

    @Test("rows that a hook dropped are counted")
    func dropped() async throws {
        try await withServer { server, scratch in
            let other = scratch.file("other.db")
            for (id, year) in [("n1", 2025), ("n2", 2026), ("n3", 2025)] {
                _ = try await Program.sluice("insert", "notes", #"{"id":"\#(id)","year":\#(year)}"#, "--store", other)
            }
            #expect(try await Program.sluice("push", "--store", other, "--endpoint", server.endpoint).status == 0)
            try await application(scratch.file("local.db"), server) { context in
                let result = try await context.pull(TableQuery("notes"), named: "all")
                #expect(SyncReport.text(result, "notes") == "pull notes: 1 row stored, 2 dropped by a hook")
                #expect(result.json(table: "notes")["dropped"] == 2)
            }
        }
    }
}
