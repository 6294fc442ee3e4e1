internal import Foundation
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

extension DecisionLog {
    /// Sees that the file is none that something else is kept in: lines in a store, in a script or in the policy would
    /// be the end of it.
    ///
    /// - Parameter owned: paths of the deployment's own files, whether they are there or not.
    /// - Throws: ``SluiceError`` of code `invalidArgument`.
    func check(besides owned: Set<String>) throws(SluiceError) {
        let isOwned = owned.contains { Self.target($0) == Self.target(path) }
        guard !isOwned, !LineFile.isOther(path, than: Array(PluginDecision.lineHead.utf8)) else {
            throw SluiceError(
                .invalidArgument,
                "decisions cannot be written to \(path): the file is another one of the deployment's, and lines in it would "
                    + "destroy it; give a file of its own")
        }
    }

    /// Returns the file that a path leads to.
    private static func target(_ path: String) -> String {
        URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path
    }
}
