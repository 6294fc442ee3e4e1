internal import Logging
internal import SluiceCore

/// Writes decisions into a file, and says in the log when that does not work, once until it does again.
final class DecisionWriter {
    let log: DecisionLog
    private let file: LineFile
    private let logger: Logger
    private var isFailing = false
    /// How many decisions could not be written.
    private(set) var lost = 0

    init(_ log: DecisionLog, _ logger: Logger) {
        self.log = log
        self.logger = logger
        file = LineFile(
            path: log.path, maximumBytes: log.maximumBytes, kept: log.kept, head: PluginDecision.lineHead)
        trying { () throws(LineFile.Fault) in try file.ready() }
    }

    func write(_ entry: PluginDecision, hiding redact: Redactor) {
        var entry = entry
        if log.hasInputs {
            entry = entry.hiding(Set(log.hidden.map(PropertyName.init)))
        } else {
            (entry.input, entry.answer) = (nil, nil)
        }
        let line = redact(entry.json).bytes() + [UInt8(ascii: "\n")]
        if !trying({ () throws(LineFile.Fault) in try file.append(line) }) { lost += 1 }
    }

    @discardableResult
    private func trying(_ act: () throws(LineFile.Fault) -> Void) -> Bool {
        do throws(LineFile.Fault) {
            try act()
            if isFailing { logger.notice("decisions of plugins are written to \(log.path) again") }
            isFailing = false
            return true
        } catch {
            if !isFailing { logger.error("decisions of plugins cannot be written to \(log.path): \(error)") }
            isFailing = true
            return false
        }
    }
}
