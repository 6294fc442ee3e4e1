internal import Foundation
internal import Logging

/// The `sluice` program.
@main
enum Main {
    /// Whether the arguments are UTF-8. Where they are not, Swift has replaced bytes in them, and a record would be
    /// stored that nobody wrote.
    private static var areText: Bool {
        (0..<Int(CommandLine.argc)).allSatisfy { index in
            CommandLine.unsafeArgv[index].map { String(validatingCString: $0) != nil } ?? true
        }
    }

    static func main() async {
        // What a user is to know is in the outcome; the log is for who asks for it.
        let level = ProcessInfo.processInfo.environment["SLUICE_LOG"].flatMap { Logger.Level(rawValue: $0) }
        LoggingSystem.bootstrap { label in
            guard let level else { return SwiftLogNoOpLogHandler() }
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        // A reader that is gone is told by the write: see ``StreamFailure``.
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        let status = await CommandRunner(arguments: arguments, areText: areText).run()
        exit(status.rawValue)
    }
}
