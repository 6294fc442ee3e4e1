internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon

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
        return rows
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
        let summary = FleetSummary(try await fleet.devices(), at: SyncEnvironment.system.now(), silentAfter: limit)
        let table = TextTable(
            head: FleetSummary.Device.columns,
            rows: summary.devices.map { device in device.cells.map { Plain.line($0) } })
        return Outcome(json: summary.json, text: table.lines() + summary.versions())
    }
}
