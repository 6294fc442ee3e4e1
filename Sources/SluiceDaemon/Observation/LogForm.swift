internal import Foundation
package import Logging
internal import Sluice
internal import SluiceConfiguration

/// The daemon's log, on standard error: lines of text, of JSON, or of text with the priority that journald reads
/// (`sd-daemon(3)`).
package struct DaemonLogHandler: LogHandler {
    package enum Form: String, Sendable { case text, json, journald }

    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level
    private let label: String
    private let form: Form

    package init(label: String, level: Logger.Level, form: Form) {
        (self.label, logLevel, self.form) = (label, level, form)
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let (level, message) = (event.level, event.message)
        var all = metadata.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { all["error"] = "\(CommandText.reason(error))" }
        let time = SyncEnvironment.system.now().description
        let text: String
        switch form {
        case .json:
            var json: JSON = [
                "time": JSON(time), "level": JSON(level.rawValue), "logger": JSON(label),
                "message": JSON("\(message)"),
            ]
            for (key, value) in all.sorted(by: { $0.key < $1.key }) where json[key] == nil {
                json[key] = JSON("\(value)")
            }
            text = json.description
        case .text, .journald:
            let pairs = all.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
            let head = form == .journald ? "<\(Self.priority(level))>" : "\(time) \(level.rawValue) "
            // One line for one entry, whatever a server or a script has put into it.
            text = head + PlainText.line("\(label): \(message)\(pairs)")
        }
        LogOutput.write(text)
    }

    private static func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }
}
