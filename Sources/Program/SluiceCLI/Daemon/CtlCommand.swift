internal import ArgumentParser
internal import Foundation
internal import Sluice
internal import SluiceDaemon

struct CtlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ctl", abstract: "Control a running daemon.",
        subcommands: [
            Status.self, Sync.self, Reload.self, Pause.self, Resume.self, Drain.self, Metrics.self,
        ])

    /// The options that select the daemon.
    struct Target: ParsableArguments {
        @Option(help: ArgumentHelp("The daemon's control socket.", valueName: "file"))
        var socket: String?

        @Option(
            help: ArgumentHelp("The daemon's configuration file, which says where its socket is.", valueName: "file"))
        var config: String?

        @Option(
            help: ArgumentHelp("A store that the daemon holds. Else the environment's SLUICE_STORE.", valueName: "file")
        )
        var store: String?

        @Flag(help: "Print exactly one JSON document.") var json = false

        func client() throws -> ControlClient {
            let environment = ProcessInfo.processInfo.environment
            if let socket = socket ?? environment["SLUICE_CONTROL_SOCKET"] { return ControlClient(socket: socket) }
            if let config {
                // Tables and queries are not checked: a daemon has to be reached also if they are wrong.
                let settings = try Self.settings(of: config)
                let values = SettingValues(settings, environment: environment)
                let first = SettingValues(settings, endpoint: settings.endpoints.first ?? "", environment: environment)
                guard let store = try first.path("store") else {
                    throw CommandFailure.usage("\(config) names no store")
                }
                return ControlClient(socket: try ControlAddress.path(values, store: store))
            }
            guard let store = store ?? environment["SLUICE_STORE"] else {
                throw CommandFailure.usage("no daemon: give --socket, --config or --store")
            }
            guard let client = ControlClient.of(store: store) else {
                throw CommandFailure.usage("no daemon holds the store \(Plain.line(store))")
            }
            return client
        }

        /// - Throws: the fault of the file, with another way to reach the daemon.
        private static func settings(of config: String) throws -> Settings {
            do {
                let (_, settings) = try SettingsSource(path: config).read()
                return settings
            } catch var error as SluiceError {
                error.message += "; a daemon that runs is reached with --socket or --store"
                throw error
            }
        }
    }

    struct Status: OutcomeCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say what the daemon does, what waits, and what went wrong last.")
        @OptionGroup var target: Target

        func outcome() async throws -> Outcome {
            let json = try await target.client().ask("status", method: "GET", limit: .seconds(30))
            return Outcome(json: json, text: DaemonReport.status(json))
        }
    }

    struct Sync: OutcomeCommand {
        static let configuration = CommandConfiguration(abstract: "Push and pull now, and say what came of it.")
        @OptionGroup var target: Target
        @Option(help: ArgumentHelp("One endpoint of several.", valueName: "name")) var endpoint: String?

        func outcome() async throws -> Outcome {
            let json = try await target.client().ask("sync", endpoint.map { [("endpoint", $0)] } ?? [])
            return DaemonReport.runs(json)
        }
    }

    struct Reload: OutcomeCommand {
        static let configuration = CommandConfiguration(
            abstract: "Load the configuration anew; one with a mistake changes nothing.")
        @OptionGroup var target: Target

        func outcome() async throws -> Outcome {
            let json = try await target.client().ask("reload")
            return Outcome(json: json, text: ["the configuration was loaded anew"] + DaemonReport.permissions(json))
        }
    }

    struct Pause: OutcomeCommand {
        static let configuration = CommandConfiguration(abstract: "Hold all schedules; what is under way ends.")
        @OptionGroup var target: Target

        func outcome() async throws -> Outcome {
            Outcome(json: try await target.client().ask("pause"), text: ["the daemon is paused"])
        }
    }

    struct Resume: OutcomeCommand {
        static let configuration = CommandConfiguration(abstract: "Let the schedules go on.")
        @OptionGroup var target: Target

        func outcome() async throws -> Outcome {
            Outcome(json: try await target.client().ask("resume"), text: ["the daemon goes on"])
        }
    }

    struct Drain: OutcomeCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send what waits, and then hold all schedules.",
            discussion: "Ends with 5 where changes remain that the server did not take.")
        @OptionGroup var target: Target

        func outcome() async throws -> Outcome { DaemonReport.drained(try await target.client().ask("drain")) }
    }

    struct Metrics: OutcomeCommand {
        static let configuration = CommandConfiguration(abstract: "Print the metrics as Prometheus reads them.")
        @OptionGroup var target: Target

        func outcome() async throws -> Outcome {
            let text = try await target.client().text("metrics")
            return Outcome(json: ["metrics": JSON(text)], text: [text])
        }
    }
}
