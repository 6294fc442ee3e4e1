internal import Foundation
internal import Logging

/// The `sluice` program.
@main
enum Main {
    /// Whether the arguments are UTF-8. If they are not, Swift has replaced bytes in them, and a corrupted record would
    /// be stored.
    private static var areText: Bool {
        (0..<Int(CommandLine.argc)).allSatisfy { index in
            CommandLine.unsafeArgv[index].map { String(validatingCString: $0) != nil } ?? true
        }
    }

    static func main() async {
        // The outcome has everything for users; the log is written on request only.
        let level = ProcessInfo.processInfo.environment["SLUICE_LOG"].flatMap { Logger.Level(rawValue: $0) }
        LoggingSystem.bootstrap { label in
            guard let level else { return SwiftLogNoOpLogHandler() }
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        // The write reports a reader that is gone: see ``StreamFailure``.
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        let status = await CommandRunner(arguments: arguments, areText: areText).run()
        exit(status.rawValue)
    }
}
