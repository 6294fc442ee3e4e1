internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon
internal import SluicePolicy

/// The table in which devices report.
struct FleetOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The table with a row of each device: policy.status-table.", valueName: "table"))
    var table = "policy_status"

    @OptionGroup var connection: ConnectionOptions

    /// Reads all rows from the server.
    func devices() async throws -> [PolicyReportRow] {
        let settings = try ClientSettings(connection)
        let (endpoint, options, transport) = try await settings.wire()
        defer { settings.stopToken() }
        let client = SluiceClient(
            endpoint: endpoint, dialect: settings.dialect, transport: transport, filters: [], options: options)
        var rows: [PolicyReportRow] = []
        for try await row in client.table(table).records(TableQuery(table)) {
            if let row = PolicyReportRow(row) { rows.append(row) }
        }
        return rows.sorted { $0.device < $1.device }
    }
}

struct PolicyFleetCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet", abstract: "Show the versions, trials and returns of all devices that report.")

    @Option(help: ArgumentHelp("After how long without a report a device counts as silent.", valueName: "time"))
    var silent = "1d"

    @OptionGroup(title: "The fleet's table") var fleet: FleetOptions

    func outcome() async throws -> Outcome {
        guard let limit = DurationText.duration(silent) else {
            throw CommandFailure.usage("--silent: \(silent) is no time such as 1d")
        }
        let (devices, now) = (try await fleet.devices(), SyncEnvironment.system.now())
        func isSilent(_ row: PolicyReportRow) -> Bool { row.reportedAt.map { $0.duration(to: now) > limit } ?? true }
        let table = TextTable(
            head: ["device", "labels", "serves", "stage", "calls", "errors", "withdrawn", "reported"],
            rows: devices.map { row in
                [
                    row.device, row.labels, row.serving.map { "\(row.name) \($0)" } ?? "installed", row.stage,
                    Plain.count(row.figures.calls), Plain.count(row.figures.errors),
                    row.withdrawn.sorted { $0.key > $1.key }.first.map { "\($0.key): \($0.value)" } ?? "",
                    (row.reportedAt.map(\.description) ?? "") + (isSilent(row) ? " silent" : ""),
                ].map { Plain.line($0) }
            })
        let versions = Dictionary(grouping: devices, by: { $0.serving ?? 0 }).sorted { $0.key > $1.key }
        let summary = versions.map { version, rows in
            "\(Plain.count(rows.count, "device")) \(version == 0 ? "with the installed policy" : "with version \(version)")"
        }
        return Outcome(
            json: [
                "devices": JSON(
                    devices.map { row -> JSON in
                        [
                            "device": JSON(row.device), "labels": JSON(row.labels), "name": JSON(row.name),
                            "serving": row.serving.map { JSON($0) } ?? .null, "stage": JSON(row.stage),
                            "newest": JSON(row.newest), "figures": row.figures.json,
                            "withdrawn": JSON(
                                members: row.withdrawn.sorted { $0.key < $1.key }
                                    .map { (PropertyName(String($0.key)), JSON($0.value)) }),
                            "reportedAt": row.reportedAt.map { JSON($0.description) } ?? .null,
                            "silent": JSON(isSilent(row)),
                        ]
                    })
            ],
            text: table.lines() + summary)
    }
}
