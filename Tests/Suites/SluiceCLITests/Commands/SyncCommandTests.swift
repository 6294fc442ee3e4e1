import Foundation
import Sluice
import Testing

@Suite struct SyncCommandTests {
    @Test("two stores meet through the server")
    func twoStores() async throws {
        try await withServer { server, scratch in
            let (one, two) = (scratch.file("one.db"), scratch.file("two.db"))
            let to = ["--endpoint", server.endpoint]
            _ = try await Program.sluice("insert", "notes", #"{"id":"n1","text":"a","n":1.10}"#, "--store", one)
            let push = try await Program.sluice.run(["push", "--store", one, "--json"] + to)
            #expect(push.status == 0)
            #expect(push.errors == "")
            #expect(try push.json["applied"] == 1)
            #expect(try push.json["remaining"] == 0)
            let pull = try await Program.sluice.run(["pull", "notes", "--query", "all", "--store", two, "--json"] + to)
            #expect(pull.status == 0)
            #expect(pull.errors == "")
            #expect(try pull.json["stored"] == 1)
            let got = try await Program.sluice("get", "notes", "n1", "--store", two, "--json")
            #expect(got.output.contains(#""n":1.10"#))
            #expect(try got.json["version"]?.string?.isEmpty == false)

            // A change on one side, a delete on the other: sync does both ways.
            _ = try await Program.sluice("insert", "notes", #"{"id":"n2"}"#, "--store", two)
            _ = try await Program.sluice("delete", "notes", "n1", "--store", two)
            let sync = try await Program.sluice.run(["sync", "notes", "--store", two, "--json"] + to)
            #expect(sync.status == 0)
            #expect(try sync.json["push"]?["applied"] == 2)
            #expect(try sync.json["pulls"]?[0]?["table"] == "notes")
            #expect(try await Program.sluice.run(["sync", "notes", "--store", one] + to).status == 0)
            let all = try await Program.sluice("query", "notes", "--select", "id", "--store", one, "--json")
            #expect(all.output == #"{"items":[{"id":"n2"}],"count":1}"# + "\n")
            let status = try await Program.sluice("status", "--store", one, "--json")
            #expect(try status.json["cursors"]?[0]?["query"] == "sync")

            // The deleted record comes back for both.
            #expect(try await Program.sluice("undelete", "notes", "n1", "--store", two).status == 0)
            #expect(try await Program.sluice.run(["push", "--store", two] + to).status == 0)
            #expect(try await Program.sluice.run(["sync", "notes", "--store", one] + to).status == 0)
            #expect(try await Program.sluice("get", "notes", "n1", "--store", one).status == 0)
        }
    }

    @Test("changes go in batches where that is asked for, by flag or by file: so many requests, and no more")
    func batches() async throws {
        try await withServer { server, scratch in
            let door = try await Door(scratch, before: server)
            defer { door.stop() }
            let store = scratch.file("one.db")
            let config = try scratch.write("sync.yaml", "endpoint: \(door.endpoint)\nstore: one.db\nbatch: 4\n")
            let (one, batch) = ("POST /tables/notes", "POST /tables/$batch of ")
            var last = 0
            /// Queues so many changes, sends them, and gives the requests that this took.
            func requests(_ count: Int, _ options: [String]) async throws -> [String] {
                let ids = (last + 1)...(last + count)
                last += count
                let lines = ids.map { #"{"id":"n\#($0)"}"# }.joined(separator: "\n")
                let imported = try await Program.sluice(
                    "import", "notes", "-", "--format", "jsonl", "--store", store, input: lines)
                #expect(imported.status == 0, "\(imported)")
                let before = door.requests.count
                let push = try await Program.sluice.run(["push", "--json"] + options)
                #expect(push.status == 0 && push.errors == "", "\(push)")
                #expect(try push.json["applied"] == JSON(count) && push.json["remaining"] == 0, "\(push)")
                return Array(door.requests[before...])
            }
            let flags = ["--store", store, "--endpoint", door.endpoint]
            #expect(try await requests(9, ["--config", config]) == [batch + "4", batch + "4", one])
            #expect(try await requests(5, flags + ["--batch", "100"]) == [batch + "5"])
            #expect(try await requests(3, flags + ["--batch", "1"]) == [one, one, one])
            // The flag wins over the file.
            #expect(try await requests(4, ["--config", config, "--batch", "2"]) == [batch + "2", batch + "2"])
            // The server's first answer says that it takes batches.
            #expect(try await requests(6, flags) == [one, batch + "5"])
            // Side by side they are as many, in any order.
            let sideBySide = try await requests(8, ["--config", config, "--concurrency", "2"])
            #expect(sideBySide == [batch + "4", batch + "4"])
            let all = try await Program.sluice.run(
                ["pull", "notes", "--json", "--store", scratch.file("two.db")] + flags.suffix(2))
            #expect(try all.json["stored"] == JSON(last), "\(all)")
            for wrong in [["--batch", "0"], ["--batch", "101"], ["--concurrency", "65"], ["--concurrency", "-1"]] {
                let refused = try await Program.sluice.run(["push", "--config", config] + wrong)
                #expect(refused.status == 2 && refused.errors.contains(wrong[0]), "\(refused)")
            }
        }
    }

    @Test("a record that others refer to by the file's references is sent before them, and deleted after them")
    func references() async throws {
        try await withServer(tables: "{ lists: {}, items: {} }") { server, scratch in
            let door = try await Door(scratch, before: server)
            defer { door.stop() }
            let config = try scratch.write(
                "sync.yaml",
                """
                endpoint: \(door.endpoint)
                store: one.db
                batch: 1
                concurrency: 8
                tables: { lists: , items: { references: { listId: lists } } }
                """)
            let here = ["--config", config]
            for (table, record) in [
                ("items", #"{"id":"i1","listId":"l1"}"#), ("items", #"{"id":"i2","listId":"l1"}"#),
                ("lists", #"{"id":"l1"}"#),
            ] { #expect(try await Program.sluice.run(["insert", table, record] + here).status == 0) }
            #expect(try await Program.sluice.run(["push"] + here).status == 0)
            #expect(door.requests == ["POST /tables/lists", "POST /tables/items", "POST /tables/items"])
            for (table, id) in [("items", "i1"), ("items", "i2"), ("lists", "l1")] {
                #expect(try await Program.sluice.run(["delete", table, id] + here).status == 0)
            }
            #expect(try await Program.sluice.run(["push"] + here).status == 0)
            #expect(
                door.requests.suffix(3).map { String($0.prefix(20)) }.last == "DELETE /tables/lists", "\(door.requests)"
            )
        }
    }

    @Test("status says of each table what is there, what waits, and what the next sync does")
    func status() async throws {
        try await withServer { server, scratch in
            let store = scratch.file("one.db")
            for id in ["n1", "n2"] {
                _ = try await Program.sluice("insert", "notes", #"{"id":"\#(id)"}"#, "--store", store)
            }
            let before = try await Program.sluice("status", "--store", store)
            #expect(
                before.output.contains(
                    "notes: 2 rows, 2 changes waiting; the next sync sends 2 changes and asks for all rows"),
                "\(before)")
        }
    }

    @Test("a record that another has deleted comes back by a wire without times of creation")
    func restoredByAnotherWire() async throws {
        try await withServer { server, scratch in
            let (one, two) = (scratch.file("one.db"), scratch.file("two.db"))
            func run(_ arguments: String..., status: Int32 = 0) async throws -> String {
                let result = try await Program.sluice.run(arguments + ["--endpoint", server.endpoint])
                #expect(result.status == status, "\(result)")
                return result.output
            }
            func local(_ arguments: String..., store: String) async throws -> JSON {
                let result = try await Program.sluice.run(arguments + ["--store", store, "--json"])
                #expect(result.status == 0, "\(result)")
                return try result.json
            }
            _ = try await local("insert", "notes", #"{"id":"n1","text":"a"}"#, store: one)
            _ = try await run("sync", "notes", "--store", one, "--dialect", "azure-v2")
            _ = try await run("sync", "notes", "--store", two, "--dialect", "azure-v2")
            _ = try await local("update", "notes", "n1", #"{"text":"b"}"#, store: one)
            _ = try await local("delete", "notes", "n1", store: two)
            _ = try await run("push", "--store", two, "--dialect", "azure-v2")
            _ = try await run("push", "--store", one, "--dialect", "datasync", status: 5)
            let held = try await local("queue", "list", store: one)
            let id = try #require(held["operations"]?[0]?["id"]?.string)
            _ = try await local("queue", "resolve", id, "client", store: one)
            _ = try await run("push", "--store", one, "--dialect", "datasync")
            _ = try await run("sync", "notes", "--store", two, "--dialect", "azure-v2")
            #expect(try await local("get", "notes", "n1", store: two)["text"] == "b")
        }
    }

    @Test("a table that is pulled by configured queries alone counts as synchronised")
    func statusOfQueries() async throws {
        try await withServer { server, scratch in
            let config = try scratch.write(
                "sync.yaml",
                "store: \(scratch.file("one.db"))\nendpoint: \(server.endpoint)\n"
                    + "queries: { short: { table: notes, filter: \"text eq 'a'\" } }\n")
            func status() async throws -> String {
                let result = try await Program.sluice("status", "--config", config)
                return result.output
            }
            #expect(try await Program.sluice("sync", "--config", config).status == 0)
            let after = try await status()
            #expect(!after.contains("never synchronised"), "\(after)")
        }
    }

    @Test(
        "the document of status has each field as docs/cli.md says: counts by state, tables, and how far queries came")
    func statusDocument() async throws {
        try await withServer { server, scratch in
            let (one, two) = (scratch.file("one.db"), scratch.file("two.db"))
            func run(_ store: String, _ arguments: String..., status: Int32 = 0) async throws {
                let result = try await Program.sluice.run(
                    arguments + ["--store", store]
                        + (["sync", "push"].contains(arguments[0]) ? ["--endpoint", server.endpoint] : []))
                #expect(result.status == status, "\(result)")
            }
            func status() async throws -> JSON {
                let result = try await Program.sluice("status", "--store", one, "--json")
                #expect(result.status == 0 && result.errors == "", "\(result)")
                return try result.json
            }
            try await run(one, "insert", "notes", #"{"id":"n1","text":"a"}"#)
            try await run(one, "insert", "notes", #"{"id":"n2","text":"a"}"#)
            let never = "sends 2 changes and asks for all rows: the table was never synchronised"
            #expect(
                try await status() == [
                    "pending": 2, "inFlight": 0, "parked": 0, "dead": 0, "ofOthers": 0, "quarantined": 0,
                    "cursors": [],
                    "tables": [
                        [
                            "table": "notes", "rows": 2, "waiting": 2, "held": 0, "behind": 0, "lastPull": .null,
                            "grade": .null,
                            "queries": [], "next": JSON(never),
                        ]
                    ],
                ])
            let start = SystemClock.now()
            try await run(one, "sync", "notes")
            // One change is held for a decision, one waits, one of another table and one of another user wait.
            try await run(two, "sync", "notes")
            try await run(two, "update", "notes", "n1", #"{"text":"theirs"}"#)
            try await run(two, "push")
            try await run(one, "update", "notes", "n1", #"{"text":"ours"}"#)
            try await run(one, "push", status: 5)
            try await run(one, "delete", "notes", "n2")
            try await run(one, "insert", "drafts", #"{"id":"d1"}"#)
            try await run(one, "insert", "drafts", #"{"id":"d2"}"#, "--user", "bob")
            // It waits for the other user's insert, and is not of what the next sync sends.
            try await run(one, "update", "drafts", "d2", #"{"text":"b"}"#)
            let document = try await status()
            // When the pull was is not known before.
            let pulled = try #require(document["tables"]?[1]?["lastPull"]?.string)
            let time = try #require(Timestamp(pulled))
            #expect(time >= start && time <= SystemClock.now())
            #expect(
                document == [
                    "pending": 4, "inFlight": 0, "parked": 1, "dead": 0, "ofOthers": 1, "quarantined": 0,
                    "cursors": [
                        ["table": "notes", "query": "sync", "updatedAt": "", "grade": "changeTokens"]
                    ],
                    "tables": [
                        [
                            "table": "drafts", "rows": 2, "waiting": 1, "held": 0, "behind": 1, "lastPull": .null,
                            "grade": .null,
                            "queries": [],
                            "next": "sends 1 change and asks for all rows: the table was never synchronised",
                        ],
                        [
                            "table": "notes", "rows": 1, "waiting": 1, "held": 1, "behind": 0, "lastPull": JSON(pulled),
                            "grade": "changeTokens",
                            "queries": [
                                [
                                    "query": "sync", "updatedAt": "", "grade": "changeTokens",
                                    "lastPull": JSON(pulled),
                                ]
                            ], "next": "sends 1 change and asks for what changed since the last one",
                        ],
                    ],
                ], "\(document)")
        }
    }

    @Test("of very many failures some are printed, and how many more there are")
    func manyFailures() async throws {
        try await withScratch { scratch in
            let store = scratch.file("one.db")
            let lines = (0..<40).map { #"{"id":"n\#($0)"}"# }.joined(separator: "\n")
            _ = try await Program.sluice("import", "notes", try scratch.write("notes.jsonl", lines), "--store", store)
            let push = try await Program.sluice(
                "push", "--store", store, "--endpoint", "http://127.0.0.1:1", "--batch", "40")
            #expect(push.status == 3 && push.errors.split(separator: "\n").count <= 21, "\(push)")
            #expect(push.errors.contains("more: see sluice queue list"))
        }
    }

    @Test("an idle pull says that nothing is new, whatever rows came again")
    func idle() async throws {
        try await withServer { server, scratch in
            let (one, two) = (scratch.file("one.db"), scratch.file("two.db"))
            let to = ["--endpoint", server.endpoint]
            _ = try await Program.sluice("insert", "notes", #"{"id":"n1","text":"a","n":1.10}"#, "--store", one)
            _ = try await Program.sluice.run(["push", "--store", one] + to)
            let pull = ["pull", "notes", "--query", "all", "--store", two] + to
            #expect(try await Program.sluice.run(pull).output == "pull notes: 1 row stored\n")
            #expect(try await Program.sluice.run(pull).output == "pull notes: nothing new\n")
            let facts = try await Program.sluice.run(pull + ["--json"]).json
            #expect(facts["stored"] == facts["unchanged"])
            _ = try await Program.sluice("update", "notes", "n1", #"{"text":"b"}"#, "--store", one)
            _ = try await Program.sluice.run(["push", "--store", one] + to)
            #expect(try await Program.sluice.run(pull).output == "pull notes: 1 row stored\n")
        }
    }

    @Test("one queued insert that takes a deleted record's place is one change")
    func oneInsert() async throws {
        try await withServer { server, scratch in
            let (one, two) = (scratch.file("one.db"), scratch.file("two.db"))
            let to = ["--endpoint", server.endpoint]
            _ = try await Program.sluice("insert", "notes", #"{"id":"n1","text":"a"}"#, "--store", one)
            _ = try await Program.sluice.run(["push", "--store", one] + to)
            _ = try await Program.sluice("delete", "notes", "n1", "--store", one)
            #expect(try await Program.sluice.run(["push", "--store", one] + to).output == "push: 1 change sent\n")
            _ = try await Program.sluice("insert", "notes", #"{"id":"n1","text":"b"}"#, "--store", two)
            let push = try await Program.sluice.run(["push", "--store", two] + to)
            #expect(push.status == 0 && push.output == "push: 1 change sent\n", "\(push)")
        }
    }

    @Test("a conflict's reason says what there is on the server: another record, none any more, a changed one")
    func reasons() async throws {
        try await withServer { server, scratch in
            let (one, two) = (scratch.file("one.db"), scratch.file("two.db"))
            let to = ["--endpoint", server.endpoint]
            for id in ["changed", "deleted"] {
                _ = try await Program.sluice("insert", "notes", #"{"id":"\#(id)","text":"a"}"#, "--store", one)
            }
            _ = try await Program.sluice.run(["push", "--store", one] + to)
            _ = try await Program.sluice.run(["sync", "notes", "--store", two] + to)
            _ = try await Program.sluice("update", "notes", "changed", #"{"text":"one"}"#, "--store", one)
            _ = try await Program.sluice("delete", "notes", "deleted", "--store", one)
            _ = try await Program.sluice("insert", "notes", #"{"id":"there","text":"one"}"#, "--store", one)
            _ = try await Program.sluice.run(["push", "--store", one] + to)
            for id in ["changed", "deleted"] {
                _ = try await Program.sluice("update", "notes", id, #"{"text":"two"}"#, "--store", two)
            }
            _ = try await Program.sluice("insert", "notes", #"{"id":"there","text":"two"}"#, "--store", two)
            let push = try await Program.sluice.run(["push", "--store", two] + to)
            #expect(push.status == 5)
            for (id, reason) in [
                ("changed", "the record was changed on the server too"),
                ("deleted", "the record was deleted on the server"),
                ("there", "the server has a record of this id already"),
            ] {
                let line = push.errors.split(separator: "\n").first { $0.contains("record \(id),") } ?? ""
                #expect(line.contains("not done: \(reason);"), "\(push.errors)")
            }
            let purge = try await Program.sluice("purge", "notes", "--store", two)
            #expect(purge.status == 5 && purge.errors.contains("the queue has 3 changes of this table"), "\(purge)")
            _ = try await Program.sluice("insert", "others", "{}", "--store", two)
            let single = try await Program.sluice("purge", "others", "--store", two)
            #expect(single.errors.contains("the queue has 1 change of this table"), "\(single)")
        }
    }

    @Test("a pull takes only the rows of its filter")
    func filter() async throws {
        try await withServer { server, scratch in
            let (one, two) = (scratch.file("one.db"), scratch.file("two.db"))
            for n in 1...3 { _ = try await Program.sluice("insert", "notes", #"{"n":\#(n)}"#, "--store", one) }
            #expect(try await Program.sluice("push", "--store", one, "--endpoint", server.endpoint).status == 0)
            let pull = try await Program.sluice(
                "pull", "notes", "--filter", "n ge 2", "--store", two, "--endpoint", server.endpoint, "--json")
            #expect(try pull.json["stored"] == 2)
        }
    }

    @Test("a row that was removed behind the server's back goes with a reconcile")
    func reconcile() async throws {
        try await withScratch { scratch in
            let records = scratch.file("server.db")
            let config = try scratch.write("backend.yaml", "database: sqlite:\(records)\ntables: { notes: {} }\n")
            let server = try await ServeProcess(scratch, config: config)
            let (one, two) = (scratch.file("one.db"), scratch.file("two.db"))
            let to = ["--endpoint", server.endpoint]
            for n in 1...3 {
                _ = try await Program.sluice("insert", "notes", #"{"id":"n\#(n)"}"#, "--store", one)
            }
            #expect(try await Program.sluice.run(["push", "--store", one] + to).status == 0)
            #expect(try await Program.sluice.run(["sync", "notes", "--store", two] + to).status == 0)
            let sqlite = Process()
            sqlite.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            // Its index calls a function that only the backend has.
            sqlite.arguments = [
                "sqlite3", records, #"DROP INDEX "notes(updatedAt)"; DELETE FROM notes WHERE id = 'n2'"#,
            ]
            try sqlite.run()
            sqlite.waitUntilExit()
            #expect(sqlite.terminationStatus == 0)

            let sync = try await Program.sluice.run(["sync", "notes", "--store", two, "--json"] + to)
            #expect(try sync.json["pulls"]?[0]?["deleted"] == 0, "nothing tells an incremental pull")
            let result = try await Program.sluice.run(["reconcile", "notes", "--store", two, "--json"] + to)
            #expect(result.status == 0, "\(result)")
            #expect(try result.json["removed"] == 1)
            #expect(try await Program.sluice("query", "notes", "--store", two, "--json").json["count"] == 2)
            let never = try await Program.sluice.run(["reconcile", "notes", "--query", "x", "--store", two] + to)
            #expect(never.status == 2)
            try await server.stop()
        }
    }

    @Test("a conflict nobody decides is held: exit 5, nothing lost, and it can be decided later")
    func held() async throws {
        try await withServer { server, scratch in
            let (one, two) = (scratch.file("one.db"), scratch.file("two.db"))
            let to = ["--endpoint", server.endpoint]
            _ = try await Program.sluice("insert", "notes", #"{"id":"n1","text":"a"}"#, "--store", one)
            _ = try await Program.sluice.run(["push", "--store", one] + to)
            _ = try await Program.sluice.run(["sync", "notes", "--store", two] + to)
            _ = try await Program.sluice("update", "notes", "n1", #"{"text":"one"}"#, "--store", one)
            _ = try await Program.sluice("update", "notes", "n1", #"{"text":"two"}"#, "--store", two)
            #expect(try await Program.sluice.run(["push", "--store", one] + to).status == 0)

            let refused = try await Program.sluice.run(["push", "--store", two, "--json"] + to)
            #expect(refused.status == 5)
            #expect(refused.errors.contains("table notes, record n1"))
            let document = try refused.json
            #expect(document["conflicts"] == 1)
            #expect(document["remaining"] == 1)
            #expect(document["error"]?["table"] == "notes")
            #expect(document["error"]?["record"] == "n1")
            #expect(document["error"]?["status"] == 412)
            let id = try #require(document["failures"]?[0]?["id"]?.string)
            #expect(try await Program.sluice("get", "notes", "n1", "--store", two, "--json").json["text"] == "two")
            // It stays so, and a later push says so again.
            #expect(try await Program.sluice.run(["push", "--store", two] + to).status == 5)
            #expect(try await Program.sluice("status", "--store", two, "--json").json["parked"] == 1)
            let shown = try await Program.sluice("queue", "show", id, "--store", two, "--json").json
            #expect(shown["local"]?["text"] == "two" && shown["base"]?["text"] == "a")
            #expect(shown["server"]?["text"] == "one")

            // What both sides have is not lost by an oversight.
            let part = ["queue", "resolve", id, "merge", #"{"id":"n1"}"#, "--store", two]
            let partial = try await Program.sluice.run(part)
            #expect(partial.status == 2 && partial.errors.contains("leaves out text"), "\(partial)")
            let merged = #"{"id":"n1","text":"one and two"}"#
            #expect(try await Program.sluice("queue", "resolve", id, "merge", merged, "--store", two).status == 0)
            #expect(try await Program.sluice.run(["push", "--store", two] + to).status == 0)
            #expect(try await Program.sluice.run(["sync", "notes", "--store", one] + to).status == 0)
            #expect(
                try await Program.sluice("get", "notes", "n1", "--store", one, "--json").json["text"] == "one and two")
        }
    }

    @Test(
        "a conflict is decided by its name, or the operation becomes another",
        arguments: [
            (["resolve", "server"], "one"), (["resolve", "client"], "two"), (["resolve", "delete"], nil),
            (["change-kind", "delete"], nil),
        ] as [([String], String?)])
    func decided(_ words: [String], _ text: String?) async throws {
        try await withServer { server, scratch in
            let (one, two) = (scratch.file("one.db"), scratch.file("two.db"))
            let to = ["--endpoint", server.endpoint]
            _ = try await Program.sluice("insert", "notes", #"{"id":"n1","text":"a"}"#, "--store", one)
            _ = try await Program.sluice.run(["push", "--store", one] + to)
            _ = try await Program.sluice.run(["sync", "notes", "--store", two] + to)
            if words[0] == "resolve" {
                _ = try await Program.sluice("update", "notes", "n1", #"{"text":"one"}"#, "--store", one)
                _ = try await Program.sluice.run(["push", "--store", one] + to)
            }
            _ = try await Program.sluice("update", "notes", "n1", #"{"text":"two"}"#, "--store", two)
            if words[0] == "resolve" {
                #expect(try await Program.sluice.run(["push", "--store", two] + to).status == 5)
            }
            let list = try await Program.sluice("queue", "list", "--store", two, "--json").json
            let id = try #require(list["operations"]?[0]?["id"]?.string)
            let done = try await Program.sluice("queue", words[0], id, words[1], "--store", two)
            #expect(done.status == 0, "\(done)")
            #expect(try await Program.sluice.run(["push", "--store", two] + to).status == 0)
            for store in [one, two] {
                #expect(try await Program.sluice.run(["sync", "notes", "--store", store] + to).status == 0)
                let found = try await Program.sluice("get", "notes", "n1", "--store", store, "--json")
                #expect(found.status == (text == nil ? 2 : 0))
                if let text { #expect(try found.json["text"]?.string == text) }
            }
        }
    }

    @Test("no network ends with 3 and keeps what waits", arguments: ["push", "pull", "sync"])
    func network(_ command: String) async throws {
        try await withScratch { scratch in
            let store = scratch.file("local.db")
            _ = try await Program.sluice("insert", "notes", #"{"id":"n1"}"#, "--store", store)
            let table = command == "push" ? [] : ["notes"]
            // Nothing listens on the discard port.
            let result = try await Program.sluice.run(
                [command] + table + ["--store", store, "--endpoint", "http://127.0.0.1:9", "--json"])
            #expect(result.status == 3)
            #expect(try result.json["error"]?["code"] == "network")
            #expect(try await Program.sluice("status", "--store", store, "--json").json["pending"] == 1)
        }
    }

    @Test("a server that wants other credentials ends with 4", arguments: ["401 Unauthorized", "403 Forbidden"])
    func unauthorized(_ status: String) async throws {
        let server = try RawServer(RawServer.answer(status, #"{"error":"no"}"#))
        defer { server.stop() }
        try await withScratch { scratch in
            let token = try scratch.write("token", "s3cr3t\n")
            let to = ["--store", scratch.file("x.db"), "--endpoint", server.endpoint, "--token-file", token, "--json"]
            _ = try await Program.sluice("insert", "notes", #"{"id":"n1"}"#, "--store", scratch.file("x.db"))
            for arguments in [["push"], ["pull", "others"]] {
                let result = try await Program.sluice.run(arguments + to)
                #expect(result.status == 4, "\(arguments): \(result)")
                #expect(!result.output.contains("s3cr3t") && !result.errors.contains("s3cr3t"))
            }
            #expect(
                try await Program.sluice("get", "notes", "n1", "--store", scratch.file("x.db")).status == 0)
        }
    }

    @Test("a table that the server does not have is a mistake of the caller")
    func unknownTable() async throws {
        try await withServer { server, scratch in
            let result = try await Program.sluice(
                "pull", "nowhere", "--store", scratch.file("x.db"), "--endpoint", server.endpoint)
            #expect(result.status == 2)
            #expect(result.errors.contains("table nowhere"))
        }
    }
}
