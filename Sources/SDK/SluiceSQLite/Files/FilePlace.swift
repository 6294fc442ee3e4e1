internal import SluiceCore

/// The file at a store's path, and its log, by which it is noticed that others have taken their names.
struct FilePlace: Sendable {
    private let path: String
    private let logPath: String
    private let file: FileIdentity?
    private var log: FileIdentity?

    init(_ path: String) {
        (self.path, logPath) = (path, path + "-wal")
        file = FileIdentity(path)
    }

    /// Notes the log that is there, once a connection has it open.
    mutating func noteLog() { log = FileIdentity(logPath) }

    /// Whether the path leads to the file.
    var hasFile: Bool { file.map { FileIdentity(path) == $0 } ?? true }

    /// Whether no other log has the log's name. One that comes with another file stays beside this one if this one is
    /// moved back, and others would use it. Without the name, nobody does.
    var hasLog: Bool { log == nil || FileIdentity(logPath).map { $0 == log } ?? true }
}
