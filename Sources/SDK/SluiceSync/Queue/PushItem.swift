internal import SluiceBase
internal import SluiceWire

/// An operation that is about to be sent, with all that the session needs to know.
struct PushItem: Sendable, Hashable {
    /// The operation, as it was stored when it was read.
    package var operation: TableOperation
    /// What is sent as the local record: that of the frozen body where the operation was in flight when a process
    /// ended, else the one the application sees.
    package var local: JSON?
    /// The server's record on which the change was made.
    package var base: JSON?
    /// The newest version of the server's record that was known before it was sent.
    package var known: JSON?
    /// The points at which hooks are to be asked about it.
    package var asks: Set<HookPoint> = []
    /// The names of the plugins that made its answer, or another of the server's.
    var answeredBy: [String] = []
    /// What went over the wire for it the last time; nil where nothing did.
    var request: SentRequest?
    /// What became of it, where it makes a row whose key the service assigns.
    var created: AssignedKeyNote?
    /// How the server is known to write the values of properties otherwise than they are sent.
    package var forms: [PropertyName: Set<WrittenForm>] = [:]

    package init(operation: TableOperation, local: JSON?, base: JSON?) {
        self.operation = operation
        self.local = local
        self.base = base
    }

    /// What the record is called from now on, where the service has assigned its key.
    var recordID: RecordID {
        if case .assigned(let id, _)? = created { return id }
        return operation.recordID
    }

    /// Whose word the server's answer is, where plugins have made or rewritten it.
    var witnesses: String? {
        var seen: Set<String> = []
        let names = answeredBy.filter { seen.insert($0).inserted }
        return names.isEmpty ? nil : "answered by \(names.joined(separator: ", "))"
    }

    /// The text, and whose word the answer is that it speaks of.
    func attributed(_ text: String) -> String { witnesses.map { "\(text) (\($0))" } ?? text }
}
