internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

struct StatusCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Say what the store waits for and how far its tables have been pulled.")

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let settings = try ClientSettings(connection)
        return try await ClientSession.run(settings, usesNetwork: false) { session in
            let status = try await session.context.status()
            let tables = try await TableStatus.all(in: session, status.cursors)
            let quarantined = try await session.context.quarantine().count
            let json = status.counts.setting([
                "quarantined": JSON(quarantined), "cursors": JSON(printing: status.cursors),
                "tables": JSON(tables.map(\.json)),
            ])
            let counts = [
                (status.pending, "pending"), (status.inFlight, "in flight"), (status.parked, "parked"),
                (status.dead, "dead"),
            ].filter { $0.0 > 0 }.map { "\(Plain.count($0.0)) \($0.1)" }
            var text = ["queue: \(counts.isEmpty ? "nothing waits" : counts.joined(separator: ", "))"]
            if status.ofOthers > 0 {
                text.append(
                    "\(Plain.count(status.ofOthers)) of these are another user's, and wait for that user's push")
            }
            text += tables.map(\.text)
            text += status.cursors.map { cursor in
                let reach =
                    cursor.updatedAt.isEmpty ? "has been pulled" : "is here up to \(Plain.line(cursor.updatedAt))"
                let note = cursor.grade == .full ? "; all rows are read by each pull" : ""
                return "\(cursor.table): query \(Plain.line(cursor.name)) \(reach)\(note)"
            }
            if quarantined > 0 {
                text.append("quarantine: \(Plain.count(quarantined, "row")) of the server's could not be stored")
            }
            return Outcome(json: json, text: text)
        }
    }
}

struct DoctorCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find out what is wrong with store, queue, server and machine, and what to do.",
        discussion: """
            Compares the store with the server, by digests of ranges of ids where the server has them, and changes \
            nothing. Ends with 0 if all is well or there are warnings alone; else as the first fault: 3 no network, 4 not \
            authorised, 5 changes are held or rows differ, 6 store or machine.
            """)

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let findings = try await Examination.findings(try ClientSettings(connection))
        let words: [Finding.Grade: String] = [.good: "ok", .warning: "look", .fault: "FAULT"]
        var text: [String] = []
        for finding in findings {
            text.append(Plain.line("\(words[finding.grade] ?? "")  \(finding.subject): \(finding.text)"))
            if let advice = finding.advice { text.append(Plain.line("      → \(advice)")) }
        }
        var outcome = Outcome(json: ["findings": JSON(findings.map(\.json))], text: text)
        for finding in findings where finding.grade == .fault {
            outcome.add(
                CommandFailure(Self.status(finding.area), finding.area.rawValue, "\(finding.subject): \(finding.text)"))
        }
        return outcome
    }

    private static func status(_ area: Finding.Area) -> ExitStatus {
        switch area {
        case .machine, .store: .store
        case .network: .network
        case .access: .unauthorized
        case .queue, .server: .attention
        }
    }
}

struct ReconcileCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "reconcile",
        abstract: "Compare a pulled query with the server, row by row, and mend what differs.",
        discussion: """
            Finds what no incremental pull can see: rows that the server has removed without a trace, and rows that \
            left the query. Rows with changes that wait are left alone. A server with digests is asked for little; of \
            another all ids and versions are listed.
            """)

    @Argument(help: "The table.")
    var table: String

    @Option(help: ArgumentHelp("The name of the incremental pull.", valueName: "name"))
    var query: String = ClientSettings.queryName

    @Option(help: ArgumentHelp("The filter with which it was pulled.", valueName: "odata"))
    var filter: String?

    @OptionGroup var removals: RemovalOptions
    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let query = TableQuery(table, filter: try QueryOptions.filter(filter))
        return try await ClientSession.run(try ClientSettings(connection), usesNetwork: true, asksPlugins: true) {
            session in
            let result = try await session.context.reconcile(
                query, named: self.query, allowsMassRemoval: removals.allowMassRemoval)
            var outcome = Outcome(json: result.json(table: table), text: [SyncReport.text(result, table)])
            SyncReport.add(quarantined: result.quarantined, table, to: &outcome)
            return outcome
        }
    }
}

/// The option to let a pull remove more rows than by default.
struct RemovalOptions: ParsableArguments {
    @Flag(help: "Remove rows even if they are most of the table's: the server meant it.")
    var allowMassRemoval = false

    /// The given flags.
    var flags: [String] { allowMassRemoval ? ["--allow-mass-removal"] : [] }
}
