internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct ImportCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Add the records of a file locally; the next push sends them.",
        discussion: """
            The file is CSV, whose first line names the columns, or has one JSON object a line. In CSV columns that are \
            declared for the table become what they are declared as, and all others are texts; in JSON values are checked \
            against what is declared. On an error the steps before it stay, \
            and a repeat with --upsert goes on from them.
            """)

    @Argument(help: "The table.")
    var table: String

    @Argument(help: "The file, or - for standard input.")
    var file: String

    @Option(help: ArgumentHelp("What the file is: csv or jsonl. Else its name tells.", valueName: "format"))
    var format: ImportFile.Format?

    @Option(
        help: ArgumentHelp(
            "What is between the fields of CSV: a character such as ;, or tab. Else a comma.", valueName: "character"))
    var separator: CSVSeparator?

    @Option(
        help: ArgumentHelp("The column that becomes the record's id; else id, if it is there.", valueName: "column"))
    var id: String?

    @Flag(help: "Update the records that are here already, with what the file says otherwise.")
    var upsert = false

    @Option(help: ArgumentHelp("How many records are written at once; all for all or none.", valueName: "number"))
    var step = ImportStep.records(1000)

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        try SyncTables.validate(table)
        let settings = try ClientSettings(connection)
        var input = try ImportFile(
            file, format: format, separator: separator, idColumn: id.map { PropertyName($0) }, needsID: upsert)
        return try await ClientSession.run(settings, usesNetwork: false, asksPlugins: true, makesStore: true) {
            session in
            var work = RecordImport(
                session, table: table, step: step, upserts: upsert, leavesOutNulls: input.format == .csv)
            let bar = ProgressBar("import \(table)", noun: "record")
            defer { bar.finish() }
            do {
                try await work.run(&input) { bar.update($0) }
                let notes =
                    RecordArgument.notes(leftOut: work.leftOut) + (work.deleted == 0 ? [] : [deletions(work.deleted)])
                return Outcome(json: json(work), text: ["import \(table): \(words(of: work.tally))"] + notes)
            } catch let problem as ImportFile.Problem {
                var outcome = Outcome(json: json(work), text: [])
                outcome.add(failure(problem, in: input, work))
                return outcome
            }
        }
    }

    private func json(_ work: RecordImport) -> JSON {
        var json: JSON = [
            "table": JSON(table), "read": JSON(work.read), "inserted": JSON(work.tally.inserted),
            "updated": JSON(work.tally.updated), "unchanged": JSON(work.tally.unchanged),
        ]
        if work.deleted > 0 { json["deleted"] = JSON(work.deleted) }
        if !work.leftOut.isEmpty { json["leftOut"] = JSON(work.leftOut.sorted().map { JSON($0.text) }) }
        return json
    }

    private func deletions(_ count: Int) -> String {
        "left out: \(Plain.count(count, "record")) marked as deleted (sluice delete removes one that is here)"
    }

    private func words(of tally: RecordImport.Tally) -> String {
        let parts = [(tally.inserted, "inserted"), (tally.updated, "updated"), (tally.unchanged, "unchanged")]
            .filter { $0.0 > 0 }
        return parts.isEmpty ? "no records" : parts.map { "\(Plain.count($0)) \($1)" }.joined(separator: ", ")
    }

    /// The problem with its place, with what is stored in spite of it, and with how to go on.
    private func failure(_ problem: ImportFile.Problem, in input: ImportFile, _ work: RecordImport) -> CommandFailure {
        var failure = problem.failure
        let place = problem.line.map { "\(input.name):\($0): " } ?? ""
        var end = "nothing is stored"
        if work.tally.stored > 0, let line = work.lastLine {
            end = "stored are \(Plain.count(work.tally.stored, "record")), up to that of line \(line); "
            if work.hasMadeIDs {
                end += "not all have ids, so import what comes after that line"
            } else {
                end += "running it again\(upsert ? "" : " with --upsert") goes on from there"
            }
        }
        failure.message = "\(place)\(failure.message); \(end)"
        failure.table = failure.table ?? table
        return failure
    }
}

extension ImportFile.Format: ExpressibleByArgument {}
