internal import ArgumentParser
internal import Sluice
internal import SluiceBackend

/// The commands about the database that `sluice serve` serves.
struct BackendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backend", abstract: "Look after the database of sluice serve.",
        subcommands: [BackendAdoptCommand.self, BackendMoveCommand.self, BackendRestoredCommand.self])
}

struct BackendRestoredCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "restored",
        abstract: "Say that the database was put back from a backup, before it is served again.",
        discussion: """
            Gives all records a new time, so that clients read them again, and leaves out ids that may have been given \
            out since the backup. "sluice serve" does so by itself where the file DATABASE-mark was not put back too.
            """)

    @Option(help: ArgumentHelp("The backend's YAML file: its database and its tables.", valueName: "file"))
    var config: String

    @Flag(help: "Print exactly one JSON document.")
    var json = false

    func outcome() async throws -> Outcome {
        var configuration = try BackendConfiguration(file: config)
        // No requests come, so plugins are not needed.
        configuration.plugins = nil
        let backend = try await Backend(configuration)
        let count: Int
        do {
            // If the backend has noticed the restore itself, nothing is left to do.
            if let noticed = backend.restoredRecords {
                count = noticed
            } else {
                count = try await backend.restored()
            }
            try await backend.close()
        } catch {
            try? await backend.close()
            throw error
        }
        return Outcome(
            json: ["stamped": JSON(count)],
            text: ["\(Plain.count(count, "record")) stamped anew; clients read them again"])
    }
}

struct BackendMoveCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Copy all records into another database, which has none yet.",
        discussion: """
            Stop "sluice serve" first, and serve the other database after. Records keep their versions, and clients that \
            read by time go on where they were; those with change tokens are told to begin afresh.
            """)

    @Option(help: ArgumentHelp("The backend's YAML file: its database and its tables.", valueName: "file"))
    var config: String

    @Option(
        help: ArgumentHelp(
            "Where to: sqlite:PATH, postgres://..., or postgres:$VARIABLE for a URL in the environment.",
            valueName: "database"))
    var to: String

    @Flag(help: "Print exactly one JSON document.")
    var json = false

    func outcome() async throws -> Outcome {
        let database = try BackendConfiguration.Database(to)
        let count = try await Backend.move(BackendConfiguration(file: config), to: database)
        return Outcome(json: ["moved": JSON(count)], text: ["\(Plain.count(count, "record")) copied"])
    }
}

struct BackendAdoptCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Have a table that is in a PostgreSQL database already served as it is.",
        discussion: """
            The file names the table with its key column and its columns. The table gets triggers, which keep a copy with \
            versions, times and tombstones, so that clients hear of what your own SQL writes. --undo takes all of it away \
            again; stop "sluice serve" before.
            """)

    @Option(help: ArgumentHelp("The backend's YAML file: its database and its tables.", valueName: "file"))
    var config: String

    @Argument(help: "The table.")
    var table: String

    @Flag(help: "Take away what adopting brought. The table and its rows stay.")
    var undo = false

    @Flag(help: "Print the SQL, and do nothing.")
    var dryRun = false

    @Flag(help: "Print exactly one JSON document.")
    var json = false

    func outcome() async throws -> Outcome {
        let configuration = try BackendConfiguration(file: config)
        let adoption =
            undo
            ? try await Backend.undoAdoption(table, of: configuration, isDryRun: dryRun)
            : try await Backend.adopt(table, of: configuration, isDryRun: dryRun)
        guard let records = adoption.records else {
            return Outcome(
                json: ["statements": JSON(adoption.statements.map { JSON($0) })],
                text: ["BEGIN;"] + adoption.statements.map { "\($0);" } + ["COMMIT;"])
        }
        let text =
            undo
            ? "the table \(table) is the database's alone again, with \(Plain.count(records, "record"))"
            : "\(Plain.count(records, "record")) of the table \(table) can be served"
        return Outcome(json: ["adopted": JSON(!undo), "records": JSON(records)], text: [text])
    }
}
