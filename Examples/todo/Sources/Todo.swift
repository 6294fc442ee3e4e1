internal import ArgumentParser
internal import Foundation
internal import Sluice

/// A to-do list that works without a network and syncs when there is one.
@main
struct Todo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "todo", abstract: "A to-do list that works offline.",
        subcommands: [List.self, Add.self, Done.self, Remove.self, Sync.self], defaultSubcommand: List.self)
}

/// The list: a local store with one table.
struct TodoList {
    static let schema = TableSchema("todos", columns: [.init("text", .string), .init("done", .boolean)])

    let context: SyncContext
    let table: SyncTable<JSON>

    /// Opens the store, runs `body` and closes the store. `endpoint` is needed for a sync only.
    static func open(_ path: String, endpoint: String? = nil, _ body: (TodoList) async throws -> Void) async throws {
        let store = try SQLiteStore(path: path)
        do {
            let client = try endpoint.map { endpoint in
                SluiceClient(endpoint: try Endpoint(endpoint), transport: AsyncHTTPTransport())
            }
            // Two people may change one entry: the fields that only one of them touched are merged, else theirs stays.
            let options = SyncOptions(conflictHandlers: [FieldMerge(preferring: .server)])
            let context = try await SyncContext(client: client, store: store, tables: [schema], options: options)
            try await body(TodoList(context: context, table: try context.table(schema.name)))
            try await store.close()
        } catch {
            try? await store.close()
            throw error
        }
    }

    /// The entries in the order in which they are shown and numbered: ids made here grow with time.
    func entries() async throws -> [JSON] {
        try await table.records(matching: TableQuery("todos", order: [.init("id")]))
    }

    /// The id of the entry with that number.
    func id(_ number: Int) async throws -> String {
        let entries = try await entries()
        guard (1...max(1, entries.count)).contains(number), number <= entries.count,
            let id = entries[number - 1]["id"]?.string
        else { throw ValidationError("there is no entry \(number)") }
        return id
    }
}

/// Where the list is kept.
struct StoreOption: ParsableArguments {
    @Option(help: "The file in which the list is kept; else TODO_STORE of the environment, else todo.db.")
    var store: String?

    var path: String { store ?? ProcessInfo.processInfo.environment["TODO_STORE"] ?? "todo.db" }
}

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the list.")
    @OptionGroup var store: StoreOption

    func run() async throws {
        try await TodoList.open(store.path) { list in
            for (index, entry) in try await list.entries().enumerated() {
                print("\(index + 1). [\(entry["done"]?.bool == true ? "x" : " ")] \(entry["text"]?.string ?? "")")
            }
            let waiting = try await list.context.status().pending
            if waiting > 0 { print("(\(waiting) changes wait for a sync)") }
        }
    }
}

struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Add an entry.")
    @Argument(help: "What is to be done.") var text: [String]
    @OptionGroup var store: StoreOption

    func run() async throws {
        try await TodoList.open(store.path) { list in
            try await list.table.insert(["text": JSON(text.joined(separator: " ")), "done": false])
        }
    }
}

struct Done: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Tick an entry off.")
    @Argument(help: "Its number in the list.") var number: Int
    @OptionGroup var store: StoreOption

    func run() async throws {
        try await TodoList.open(store.path) { list in
            try await list.table.update(["id": JSON(try await list.id(number)), "done": true])
        }
    }
}

struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Remove an entry.")
    @Argument(help: "Its number in the list.") var number: Int
    @OptionGroup var store: StoreOption

    func run() async throws {
        try await TodoList.open(store.path) { list in try await list.table.delete(id: try await list.id(number)) }
    }
}

struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Send what changed here, and bring what changed there.")
    @Option(help: "The server's address; else TODO_ENDPOINT of the environment.") var endpoint: String?
    @OptionGroup var store: StoreOption

    func run() async throws {
        guard let endpoint = endpoint ?? ProcessInfo.processInfo.environment["TODO_ENDPOINT"] else {
            throw ValidationError("no server: give --endpoint or TODO_ENDPOINT")
        }
        try await TodoList.open(store.path, endpoint: endpoint) { list in
            let push = try await list.context.push()
            if let error = push.error { throw error }
            let pull = try await list.table.pull(named: "all")
            print("\(push.applied) sent, \(pull.stored) brought, \(pull.deleted) removed")
            for failure in push.failures { print("not sent: \(failure.recordID): \(failure.failure?.message ?? "")") }
        }
    }
}
