internal import Foundation
package import Logging
internal import Sluice
internal import SluiceConfiguration
internal import Synchronization

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

/// Standard error as a log: an unwritable line neither ends nor blocks the daemon.
///
/// A write into a pipe without a reader would block. A line is therefore written only if the system reports room for
/// it, and dropped otherwise, as on a full disk. The next line reports the number of dropped ones.
enum LogOutput {
    /// The number of lines dropped since the last written one.
    private static let lost = Mutex(0)
    /// The time that a line waits for a slow reader, in milliseconds; after a dropped line none waits.
    private static let patience: Int32 = 200
    /// The number of bytes that a pipe with room takes without waiting (`PIPE_BUF`, pipe(7)).
    private static let most = 4096

    static func write(_ line: String) {
        lost.withLock { lost in
            let missed = lost == 0 ? "" : "sluice: lines of the log that could not be written: \(lost)\n"
            var rest = Array((missed + line + "\n").utf8)[...]
            while !rest.isEmpty {
                var end = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
                let isReady = SystemCall.repeated { poll(&end, 1, lost == 0 ? patience : 0) } > 0
                let count = isReady ? put(rest.prefix(most)) : -1
                guard count >= 0 else {
                    lost += 1
                    return
                }
                rest = rest.dropFirst(count)
            }
            lost = 0
        }
    }

    /// Returns the number of bytes that were written; -1 where none could be.
    private static func put(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.withUnsafeBytes { bytes in
            SystemCall.repeated { Foundation.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
        }
    }
}
