internal import Foundation
internal import Logging

/// The `sluice` program.
@main
enum Main {
    static func main() async {
        // What a user is to know is in the outcome; the log is for who asks for it.
        let level = ProcessInfo.processInfo.environment["SLUICE_LOG"].flatMap { Logger.Level(rawValue: $0) }
        LoggingSystem.bootstrap { label in
            guard let level else { return SwiftLogNoOpLogHandler() }
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        let status = await CommandRunner(arguments: Array(CommandLine.arguments.dropFirst())).run()
        exit(status.rawValue)
    }
}
