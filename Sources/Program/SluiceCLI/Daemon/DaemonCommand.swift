internal import ArgumentParser
internal import Foundation
internal import Logging
internal import ServiceLifecycle
internal import Sluice
internal import SluiceDaemon
internal import UnixSignals

struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon", abstract: "Sync for as long as the process runs, as a configuration file says.",
        discussion: """
            SIGTERM and SIGINT end it after the request that is under way; SIGHUP, or a changed file, has the \
            configuration loaded anew. sluice ctl controls it.
            """)

    @OptionGroup var settings: SettingsOptions

    func run() async throws {
        let source = try settings.source()
        let (_, read) = try source.read()
        let values = SettingValues(read, environment: source.environment)
        let level = values.text("log.level").flatMap { Logger.Level(rawValue: $0) } ?? .info
        let form = values.text("log.form").flatMap { DaemonLogHandler.Form(rawValue: $0) } ?? .text
        let logger = Logger(label: "sluice") { DaemonLogHandler(label: $0, level: level, form: form) }
        let daemon = try await Daemon(source, logger: logger)
        var quiet = logger
        quiet.logLevel = max(level, .warning)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: daemon)], gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet))
        try await group.run()
    }
}

/// The options for the configuration file and its overrides.
struct SettingsOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "One value over the file's and the environment's; a list with commas.", valueName: "key=value"))
    var set: [String] = []

    /// Returns the source of the configuration.
    ///
    /// - Throws: a usage failure for a `--set` that is not valid.
    func source() throws -> SettingsSource {
        var flags: [String: [String]] = [:]
        for text in set {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                throw CommandFailure.usage("--set takes KEY=VALUE, not \(text)")
            }
            let isList = Setting.all.contains { parts[0].hasSuffix($0.key) && $0.form == .list }
            flags[parts[0]] = isList ? parts[1].split(separator: ",").map(String.init) : [parts[1]]
        }
        return SettingsSource(path: config, flags: flags)
    }
}

struct InspectorCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspector", abstract: "Print an address that opens a running daemon's inspector.",
        discussion: """
            The address signs in the browser that opens it first, within ten minutes. The daemon serves an inspector \
            where its configuration has inspector.port.
            """)

    @OptionGroup var target: CtlCommand.Target

    func outcome() async throws -> Outcome {
        let json = try await target.client().ask("inspector", limit: .seconds(30))
        return Outcome(json: json, text: [json["address"]?.string ?? ""])
    }
}
