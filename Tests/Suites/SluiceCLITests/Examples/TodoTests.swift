import Foundation
import Testing

@Suite(.example(.todo)) struct TodoTests {
    @Test("two to-do lists work offline and meet through a server")
    func twoLists() async throws {
        try await withServer(tables: "{ todos: { softDelete: true } }") { server, scratch in
            let (home, work) = (scratch.file("home.db"), scratch.file("work.db"))
            for text in ["buy milk", "call Ada"] {
                #expect(try await Program.todo("add", text, "--store", home).status == 0)
            }
            #expect(try await Program.todo("done", "1", "--store", home).status == 0)
            let list = try await Program.todo("list", "--store", home)
            #expect(list.output == "1. [x] buy milk\n2. [ ] call Ada\n(2 changes wait for a sync)\n")

            let sync = try await Program.todo("sync", "--endpoint", server.endpoint, "--store", home)
            #expect(sync.status == 0, "\(sync)")
            #expect(sync.output.hasPrefix("2 sent"))
            let variables = ["TODO_ENDPOINT": server.endpoint, "TODO_STORE": work]
            #expect(try await Program.todo("sync", environment: variables).status == 0)
            #expect(try await Program.todo(environment: variables).output == "1. [x] buy milk\n2. [ ] call Ada\n")

            // Each changes something without the other; both end with the same list.
            #expect(try await Program.todo("done", "2", environment: variables).status == 0)
            #expect(try await Program.todo("remove", "1", "--store", home).status == 0)
            for _ in 1...2 {
                #expect(try await Program.todo("sync", environment: variables).status == 0)
                #expect(
                    try await Program.todo("sync", "--endpoint", server.endpoint, "--store", home).status == 0)
            }
            #expect(try await Program.todo("list", "--store", home).output == "1. [x] call Ada\n")
            #expect(try await Program.todo(environment: variables).output == "1. [x] call Ada\n")
        }
    }

    @Test("a to-do list says what is wrong")
    func mistakes() async throws {
        try await withScratch { (scratch) async throws in
            let store = scratch.file("x.db")
            #expect(try await Program.todo("done", "1", "--store", store).status != 0)
            #expect(try await Program.todo("sync", "--store", store).errors.contains("TODO_ENDPOINT"))
            #expect(
                try await Program.todo("sync", "--store", store, "--endpoint", "http://127.0.0.1:9").status != 0)
        }
    }
}
