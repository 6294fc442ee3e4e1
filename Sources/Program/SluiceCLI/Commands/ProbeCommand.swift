internal import ArgumentParser
internal import Foundation
internal import Sluice
internal import SluiceDaemon
internal import SluiceProbe
internal import UnixSignals

struct ProbeCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe",
        abstract: "Look at a server before it is trusted with data: is it safe to sync with?",
        discussion: """
            Asks a table what a pull asks, and names what is wrong, what it costs, what to change at the server and what \
            Sluice does about it. It only reads, unless --write names a scratch table: there it makes rows of its own, \
            changes them and deletes them. No store is opened, and no plugins take part. Ends with 0 if nothing is wrong, 5 for warnings, 7 for a \
            fault; 3 if the server cannot be reached, 4 if it does not accept the credentials.
            """)

    @Argument(help: ArgumentHelp("The server's address; else as --endpoint.", valueName: "url"))
    var address: String?

    @Option(help: ArgumentHelp("The table to read; else the configuration's first one, else that of --write."))
    var table: String?

    @Option(help: ArgumentHelp("A scratch table, where rows may be made, changed and deleted.", valueName: "table"))
    var write: String?

    @Option(help: ArgumentHelp("The most requests, 10 to 10000.", valueName: "count"))
    var requests = ProbeBounds().requests

    @Option(help: ArgumentHelp("The longest time: 30s, 5m.", valueName: "time"))
    var time = "120s"

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        var connection = connection
        if let address {
            guard connection.endpoint == nil else { throw CommandFailure.usage("give the address once") }
            connection.endpoint = address
        }
        let settings = try ClientSettings(connection)
        let options = try options(settings)
        let (endpoint, client, transport) = try await settings.wire()
        let probe = ServerProbe(
            endpoint: endpoint, dialect: settings.dialect, transport: transport, client: client, options: options)
        defer { settings.stopToken() }
        return outcome(try await Interruption.cancels { try await probe.run() })
    }

    private func options(_ settings: ClientSettings) throws -> ProbeOptions {
        guard let table = table ?? settings.tables.first?.name ?? write else {
            throw CommandFailure.usage("no table: give --table, or --config with tables")
        }
        guard (10...10_000).contains(requests) else { throw CommandFailure.usage("--requests is 10 to 10000") }
        guard let duration = DurationText.duration(time), duration > .zero else {
            throw CommandFailure.usage("--time is a number with ms, s, m or h, such as 30s")
        }
        var options = ProbeOptions(table: table)
        options.scratch = write
        options.columns = settings.tables.first { $0.name == write }?.columns ?? []
        (options.bounds.requests, options.bounds.duration) = (requests, duration)
        return options
    }

    private func outcome(_ report: ProbeReport) -> Outcome {
        var json = report.json
        json["settings"] = JSON(report.settings.map { JSON($0) })
        var outcome = Outcome(json: json, text: Self.text(report))
        switch report.worst {
        case .fault?: outcome.status = .brokenProtocol
        case .warning?: outcome.status = .attention
        case nil: break
        }
        return outcome
    }

    private static func text(_ report: ProbeReport) -> [String] {
        let mode = report.scratch.map { "wrote to \($0)" } ?? "read only"
        var lines = [
            "\(report.endpoint): \(report.dialect), table \(report.table), \(mode), "
                + Plain.count(report.requests, "request")
        ]
        lines += report.facts.map { "ok  \($0.subject): \($0.text)" }
        for finding in report.findings {
            lines.append("\(finding.grade == .fault ? "FAULT" : "look")  \(finding.code.rawValue): \(finding.seen)")
            lines.append("      cost: \(finding.cost)")
            lines.append("      server: \(finding.server)")
            lines.append("      sluice: \(finding.sluice)")
        }
        lines.append(report.findings.isEmpty ? "nothing is wrong; settings:" : "settings:")
        return (lines + report.settings.map { "  \($0)" }).map(Plain.line)
    }
}

private enum Interruption {
    /// Runs `body`, and cancels it at SIGINT and SIGTERM, so that it can delete its rows. Then the process ends.
    static func cancels<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let work = Task { try await body() }
        let watch = Task {
            for await signal in signals {
                work.cancel()
                _ = await work.result
                // The code by which shells report that a signal ended a program.
                exit(128 + signal.rawValue)
            }
        }
        defer { watch.cancel() }
        do {
            return try await work.value
        } catch {
            if work.isCancelled { await watch.value }
            throw error
        }
    }
}
