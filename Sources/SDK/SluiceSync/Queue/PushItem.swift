internal import SluiceBase
internal import SluiceWire

/// An operation about to be sent, with all data that the session needs.
struct PushItem: Sendable, Hashable {
    /// The operation as it was read from the store.
    package var operation: TableOperation
    /// The local record of the send: that of the frozen body if the operation was in flight when a process ended, else
    /// the one that the application sees.
    package var local: JSON?
    /// The server's record on which the change was made.
    package var base: JSON?
    /// The newest version of the server's record known before the send.
    package var known: JSON?
    /// The server's newest record, where a pull has shown it in the version of ``base`` with other content: the server
    /// was restored, or its record was written without a new version. Then no condition notices the difference.
    var rewritten: JSON?
    /// The system properties that the records had from another wire, and that are left out of them here.
    var foreign: Set<PropertyName> = []
    /// Whether the server's record changed so short a time ago that a copy of the data that lags may not have it.
    var isYoung = false
    /// Whether the operation was first sent so short a time ago that a copy of the data may not have the row as it met it.
    var mayMeetLag = false
    /// The points at which hooks are asked about the operation.
    package var asks: Set<HookPoint> = []
    /// The names of the plugins that made its answer, or another of the server's.
    var answeredBy: [String] = []
    /// The names of the properties that were sent and that the answer to the change lacks.
    var dropped: [PropertyName] = []
    /// The last request for it on the wire; nil where none was sent.
    var request: SyncRequest.Sent?
    /// The outcome of a creation whose key the service assigns.
    var created: AssignedKeyNote?
    /// The known ways in which the server rewrites the values of properties.
    package var forms: [PropertyName: Set<WrittenForm>] = [:]

    package init(operation: TableOperation, local: JSON?, base: JSON?) {
        self.operation = operation
        self.local = local
        self.base = base
    }

    /// Makes an item of the same operation whose records lack those properties.
    init(_ item: PushItem, without names: Set<PropertyName>) {
        self = item
        if names.isEmpty { return }
        local = local?.without(names)
        base = base?.without(names)
    }

    /// The record's id from now on: the assigned key, if the service has assigned one.
    var recordID: RecordID {
        if case .assigned(let id, _)? = created { return id }
        return operation.recordID
    }

    /// The plugins that made or rewrote the server's answer, as text; nil where none did.
    var witnesses: String? {
        var seen: Set<String> = []
        let names = answeredBy.filter { seen.insert($0).inserted }
        return names.isEmpty ? nil : "answered by \(names.joined(separator: ", "))"
    }

    /// Returns the text, with the names of the plugins that produced the answer.
    func attributed(_ text: String) -> String { witnesses.map { "\(text) (\($0))" } ?? text }
}
