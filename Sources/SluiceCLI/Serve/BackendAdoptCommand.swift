internal import ArgumentParser
internal import Sluice
internal import SluiceBackend

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
