internal import ArgumentParser
internal import Foundation
internal import Sluice
internal import SluiceAdopt
internal import SluiceDaemon

struct StoreAdoptCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt", abstract: "Move an old SDK's local store into this one, with its waiting changes.",
        discussion: """
            Stores of the .NET, Datasync, Community Toolkit, JavaScript, Android and iOS clients. All of it moves, or \
            nothing; the old file stays as it is, and moving it again changes nothing. The types of columns, the spelling of \
            names and the queries come from --config where the old file does not tell them.
            """)

    @Argument(help: "The old store's file.")
    var file: String

    @Flag(help: "Say what would move, and change nothing.")
    var dryRun = false

    @Option(
        help: ArgumentHelp(
            "The format that the file has to have: \(OldStoreFormat.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "name"))
    var format: String?

    @Option(
        name: .customLong("table"),
        help: ArgumentHelp("The server's name of an old table; may be repeated.", valueName: "old=name"))
    var names: [String] = []

    @Option(
        name: .customLong("leave"),
        help: ArgumentHelp(
            "An old table that is not the server's, and stays behind; may be repeated.", valueName: "table"))
    var left: [String] = []

    @Option(
        help: ArgumentHelp(
            "The device's time zone, for the toolkit's times without one: +02:00 or Europe/Berlin.", valueName: "zone"))
    var zone: String?

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let settings = try ClientSettings(connection)
        let old = try OldStore(
            path: file, format: try wanted(), temporaryFolder: FileManager.default.temporaryDirectory.path)
        let options = try adoptionOptions(settings)
        if dryRun {
            let report = try old.report(options, dialect: settings.dialect, localOnly: settings.localOnly)
            return outcome(report, isDone: false)
        }
        return try await ClientSession.run(settings, usesNetwork: false, makesStore: true) { session in
            outcome(try await session.context.adopt(old, options: options), isDone: true)
        }
    }

    private func wanted() throws -> OldStoreFormat? {
        guard let format else { return nil }
        guard let known = OldStoreFormat(rawValue: format) else {
            let names = OldStoreFormat.allCases.map(\.rawValue)
            throw CommandFailure.usage(
                "no old store has the format \(Plain.line(format)); known are \(names.joined(separator: ", "))"
                    + (NearestKey.suggestion(for: format, among: names) ?? ""))
        }
        return known
    }

    private func adoptionOptions(_ settings: ClientSettings) throws -> AdoptionOptions {
        var options = AdoptionOptions()
        (options.tables, options.queries, options.leftTables) = (settings.tables, settings.pulls, Set(left))
        for pair in names {
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, options.names.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw CommandFailure.usage(
                    "--table takes an old table and its name at the server, once: TodoItems=TodoItem")
            }
        }
        options.utc = try zone.map { try DeviceZone.utc($0) }
        return options
    }

    private func outcome(_ report: AdoptionReport, isDone: Bool) -> Outcome {
        var outcome = Outcome(json: report.json, text: AdoptionText.lines(report, isDone: isDone))
        outcome.json["dryRun"] = JSON(!isDone)
        if !report.leftOut.isEmpty, report.adoptedBefore == nil {
            outcome.add(
                CommandFailure(
                    .attention, "leftOut",
                    "\(Plain.count(report.leftOut.count, "change")) of the old store cannot be moved; keep the old file"
                ))
        }
        return outcome
    }
}

/// The time zone of a device, by its offset or its name.
enum DeviceZone {
    /// Returns the conversion of the zone's times to UTC.
    static func utc(_ text: String) throws -> @Sendable (Timestamp) -> Timestamp {
        guard
            let zone = Timestamp("1970-01-01T00:00:00\(text)").map({ TimeZone(secondsFromGMT: -seconds($0)) })
                ?? TimeZone(identifier: text)
        else { throw CommandFailure.usage("there is no time zone \(Plain.line(text)): give +02:00 or Europe/Berlin") }
        return { local in
            // The offset at the time itself: first as if it were UTC, then with the offset that this finds.
            let guess = local.advanced(by: .seconds(-zone.offset(at: local)))
            return local.advanced(by: .seconds(-zone.offset(at: guess)))
        }
    }

    private static func seconds(_ time: Timestamp) -> Int { Int(time.ticks / Timestamp.ticksPerSecond) }
}

extension TimeZone {
    fileprivate func offset(at time: Timestamp) -> Int {
        secondsFromGMT(for: Date(timeIntervalSince1970: Double(time.ticks) / Double(Timestamp.ticksPerSecond)))
    }
}

/// The report of an adoption as tables.
enum AdoptionText {
    static func lines(_ report: AdoptionReport, isDone: Bool) -> [String] {
        if let before = report.adoptedBefore {
            return ["this store was adopted at \(before) with the same content; nothing was changed"]
        }
        let records = report.tables.reduce(0) { $0 + $1.records }
        var lines = [
            "\(isDone ? "moved" : "would move") from a store of the format \(report.format.rawValue): "
                + "\(Plain.count(records, "record")) of \(Plain.count(report.tables.count, "table")), "
                + "\(Plain.count(report.operations.count, "change")) that wait"
        ]
        lines += section(
            TextTable(
                head: ["table", "in the old store", "records"],
                rows: report.tables.map { [Plain.line($0.table), Plain.line($0.oldTable), "\($0.records)"] }))
        lines += section(
            TextTable(
                head: ["", "change", "table", "record", "made on version", "state", "status"],
                rows: report.operations.map {
                    [
                        "\($0.place)", $0.kind, Plain.line($0.table), Plain.line($0.recordID.text),
                        Plain.line($0.baseVersion ?? ""), $0.state.rawValue, $0.status.map { "\($0)" } ?? "",
                    ]
                }))
        lines += section(
            TextTable(
                head: ["left out", "table", "record", "reason"],
                rows: report.leftOut.map {
                    [$0.kind, Plain.line($0.table), Plain.line($0.recordID.text), Plain.line($0.reason)]
                }))
        lines += section(
            TextTable(
                head: ["token of", "query", "goes on from", ""],
                rows: report.tokens.map {
                    [
                        Plain.line($0.table), Plain.line($0.query ?? "(whole table)"),
                        $0.startsAt.map { "\($0)" } ?? "the beginning", Plain.line($0.reason),
                    ]
                }))
        return lines + report.notes.map { Plain.line("note: \($0)") }
    }

    private static func section(_ table: TextTable) -> [String] { table.rows.isEmpty ? [] : [""] + table.lines() }
}
