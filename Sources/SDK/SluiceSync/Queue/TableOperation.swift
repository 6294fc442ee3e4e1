public import HTTPTypes
public import SluiceBase
public import SluiceWire

/// A change that was made locally and waits to reach the server.
///
/// It is stored in the same transaction as the row it changes, and removed in the transaction that stores the server's
/// answer. In between it can be listed, retried and discarded through ``SyncContext/queue``. The table in
/// `Collapse.swift` shows the effect of further changes of the record.
public struct TableOperation: Sendable, Hashable, Identifiable {
    /// The operation's action on the server.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Makes the record.
        case insert
        /// Changes the record.
        case update
        /// Deletes the record.
        case delete
        /// Brings a deleted record back.
        case undelete

        /// Whether it sends a record, or a part of one.
        var hasBody: Bool { self == .insert || self == .update }
    }

    /// The state of the operation.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// It will be sent by the next push.
        case pending
        /// It is being sent, or was when the process ended. Its body is frozen: a newer edit becomes its successor.
        case inFlight
        /// It waits for a decision, with the reason in ``TableOperation/failure``. Its successors on the record wait
        /// too.
        case parked
        /// It has failed too often, with the reason in ``TableOperation/failure``.
        case dead
    }

    /// The operation's id, made before it is first stored. With ``revision`` it forms the request's id on the wire.
    public let id: String
    /// The place in the queue; smaller goes first.
    public var sequence: Int64
    /// The table.
    public let table: String
    /// The record.
    public internal(set) var recordID: RecordID
    /// The action.
    public var kind: Kind
    /// The state.
    public var state: State = .pending
    /// The number of the body's version: 1 at first, plus one for each later edit.
    public var revision = 1
    /// The number of sends so far.
    public var attempts = 0
    /// Whether a send ended without an answer that shows its outcome. The server may have applied it already.
    public var isUncertain = false
    /// The reason for the last failure.
    public var failure: Failure?
    /// The time at which the operation was made.
    public var createdAt: Timestamp
    /// The application's tags, for its filters and for pushes of a part of the queue.
    public var tags: Set<String> = []
    /// The application's header fields for the operation's requests.
    public var headers: HTTPFields = [:]
    /// The group whose changes reach the server all together or not at all; nil for an operation without one.
    public var group: String?
    /// Whether later edits of the record may be merged into it. If false, it is sent unchanged.
    public var isMergeable = true
    /// The number of failures in a row that the operation itself caused at the server. At
    /// ``SyncOptions/maximumAttempts`` it is dead. Failures of the network and of a busy server do not count.
    public var failedAttempts = 0
    /// The earliest time of the next send, set by a hook; nil without one.
    public var notBefore: Timestamp?
    /// The time for which the hook made it wait, at that moment.
    private var delay: Duration?
    /// The user of the change (``SyncOptions/user``); pushes of other users hold it. Empty without a particular user:
    /// the first push of any user then sends it.
    public var user: String {
        get { maker.text }
        set { maker = ExactName(newValue) }
    }
    private var maker = ExactName("")
    /// The local record after this operation, kept when a successor changes the record before this one is sent. For a
    /// delete: the record of the edit that it replaced, until the delete may have been done.
    package var frozen: JSON?
    /// The former values of properties that this operation sets and that the decision about an operation before it has
    /// changed since, with the former version; nil if there are none. Because of that version the server refuses the
    /// operation, and the conflict is decided.
    var overruled: JSON?
    /// The sent bodies that may have taken effect, the newest last.
    package var sent: [SentBody] = []

    /// The reason for an operation's failure.
    public struct Failure: Sendable, Hashable {
        /// The reason's code, as ``SluiceError/Code`` prints it.
        public var code: String
        /// The reason as a value; nil for a code of another version.
        public var reason: SluiceError.Code? { SluiceError.Code(code) }
        /// The reason, as text for people.
        public var message: String
        /// The status of the server's answer.
        public var status: Int?
        /// The server's record, if it sent one; for a conflict the version to decide against.
        public var serverRecord: JSON?
        /// The request as it went over the wire; nil where none was sent.
        public var request: SyncRequest.Sent?

        /// A reason.
        public init(code: String, message: String, status: Int? = nil, serverRecord: JSON? = nil) {
            self.code = code
            self.message = message
            self.status = status
            self.serverRecord = serverRecord
        }

        init(_ error: SluiceError) {
            self.init(
                code: error.code.description, message: error.message, status: error.status,
                serverRecord: error.serverRecord)
        }
    }

    /// An operation that has never been sent.
    package init(
        id: String, sequence: Int64, table: String, recordID: RecordID, kind: Kind, createdAt: Timestamp
    ) {
        self.id = id
        self.sequence = sequence
        self.table = table
        self.recordID = recordID
        self.kind = kind
        self.createdAt = createdAt
    }

    /// Whether a later change of the record may be merged into this operation: both allow it, and have the same group
    /// and user.
    func mayTake(_ later: TableOperation) -> Bool {
        isMergeable && later.isMergeable && group == later.group && maker == later.maker
    }

    /// Whether the operation was sent at least once.
    public var wasSent: Bool { attempts > 0 }
    /// Whether the server refused it, and no send before that can have taken effect.
    var wasRefused: Bool { isHeld && !isUncertain }
    /// Whether a push of that user may send it, and a change of that user be merged into it.
    func belongs(to user: String) -> Bool { self.user.isEmpty || maker == ExactName(user) }
    /// Whether it waits for a person; pushes skip it.
    var isHeld: Bool { state == .parked || state == .dead }
    /// The id of the request. It stays the same when the same body is sent again, so that a server can recognise it.
    public var requestID: String { "\(id)-\(revision)" }

    /// Returns the record after this operation, without later changes.
    func resultingRecord(local: JSON?, mirror: JSON?) -> JSON? {
        switch kind {
        case .delete: nil
        case .undelete: frozen ?? mirror
        case .insert, .update: frozen ?? sentAsIs?.local ?? sent.last { $0.local != nil }?.local ?? local
        }
    }

    /// Returns the record on which the operation was made, where the server's record before it is `known`.
    func base(on known: JSON?) -> JSON? {
        guard var base = known, let overruled else { return known }
        for (name, value) in overruled.members ?? [] { base[name] = value }
        return base
    }

    /// Returns the overruled values of two operations that become one.
    static func overruled(_ first: JSON?, then second: JSON?) -> JSON? {
        guard let first, var both = second else { return first ?? second }
        for (name, value) in first.members ?? [] { both[name] = value }
        return both
    }

    /// Whether a hook makes it wait at that time. After a clock was set back, it does not wait longer than the hook has
    /// asked.
    func waits(at now: Timestamp) -> Bool {
        guard let notBefore else { return false }
        return notBefore > now && now.duration(to: notBefore) <= delay ?? Self.longestDelay
    }

    /// Makes it wait for so long, or no longer.
    mutating func wait(for asked: Duration?, from now: Timestamp) {
        delay = asked.flatMap { $0 > .zero ? min($0, Self.longestDelay) : nil }
        notBefore = delay.map { now.advanced(by: $0) }
    }

    /// The longest time for which a hook can postpone an operation.
    private static let longestDelay = Duration.seconds(30 * 86_400)

    /// The sent body of the current revision.
    var sentAsIs: SentBody? { sent.last { $0.revision == revision } }

    /// Whether the same change was sent before, and no other body, as that of a discarded operation, may have changed
    /// the record since its base was read.
    var isRepeated: Bool {
        let current = sentAsIs?.final
        return attempts > 1 && !sent.contains { $0.mayBeDone && $0.final != current }
    }

    /// Notes that the last send ended without an answer that shows its outcome.
    mutating func doubt() {
        isUncertain = true
        // The delete may have been done, so the edit that it replaced cannot be restored without the server.
        if kind == .delete { frozen = nil }
        if let index = sent.lastIndex(where: { $0.revision == revision }) { sent[index].mayBeDone = true }
    }

    /// The operation where no task waits for its answer any more: one in flight is in doubt.
    var landed: TableOperation {
        var landed = self
        if state == .inFlight { landed.doubt() }
        return landed
    }

    /// Marks the operation as never applied, because a user said so. Its sent body may go out again unchanged.
    mutating func forgetDoubt() {
        isUncertain = false
        for index in sent.indices { sent[index].mayBeDone = false }
    }

    /// Whether it may have made a record on the server that no answer or pull has shown.
    ///
    /// - Parameter mirror: the newest record known from the server.
    func mayHaveMadeRecord(mirror: JSON?) -> Bool {
        mirror == nil && (isUncertain || state == .inFlight) && (kind == .insert || kind == .delete)
    }

    /// Makes it ready to be sent with a new body, in any state.
    mutating func revise() {
        revision += 1
        frozen = nil
        // An edit does not decide whether to send the creation once more.
        if kind != .insert || !isMaybeApplied { revive() }
    }

    /// Whether it is held because the server's record is not the one that it was made on.
    package var isHeldConflict: Bool {
        state == .parked && (failure?.reason == .conflict || failure?.serverRecord != nil)
    }

    /// Whether it is held because it may have made a row that cannot be found, or one under another id: to send it again
    /// may make a second one.
    var isMaybeApplied: Bool { isHeld && failure?.reason == .maybeApplied }

    /// Makes it ready to be sent again, in any state.
    mutating func revive() {
        state = .pending
        failure = nil
        failedAttempts = 0
        (notBefore, delay) = (nil, nil)
    }
}

extension TableOperation {
    /// The table of the store for operations.
    package static let schema = TableSchema(
        "sluice_operations",
        columns: [
            .init("sequence", .integer), .init("table", .string), .init("record", .string), .init("kind", .string),
            .init("state", .string), .init("revision", .integer), .init("attempts", .integer),
            .init("uncertain", .boolean), .init("createdAt", .date), .init("failure", .json), .init("sent", .json),
            .init("tags", .json), .init("group", .string), .init("mergeable", .boolean),
            .init("failedAttempts", .integer), .init("frozen", .json), .init("notBefore", .date),
            .init("user", .string), .init("headers", .json), .init("delay", .integer), .init("overruled", .json),
        ],
        indexes: [["table", "record"], ["sequence"], ["group"], ["state"]])

    /// The operation as a row of ``schema``, with null for missing values. A store that keeps columns then need not note
    /// which ones are absent.
    var row: StoreRow {
        let values: [ColumnValue] = [
            .integer(sequence), .text(table), .text(recordID.text), .text(kind.rawValue), .text(state.rawValue),
            .integer(Int64(revision)), .integer(Int64(attempts)), .boolean(isUncertain), .text(createdAt.description),
            failure.map { .json($0.json) } ?? .null, .json(JSON(sent.map(\.json))),
            tags.isEmpty ? .null : .json(JSON(tags.sorted().map { JSON($0) })), group.map(ColumnValue.text) ?? .null,
            isMergeable ? .null : .boolean(false), failedAttempts > 0 ? .integer(Int64(failedAttempts)) : .null,
            frozen.map(ColumnValue.json) ?? .null, notBefore.map { .text($0.description) } ?? .null,
            user.isEmpty ? .null : .text(user), headers.isEmpty ? .null : .json(headers.json),
            delay.map { .integer($0.wholeNanoseconds) } ?? .null, overruled.map(ColumnValue.json) ?? .null,
        ]
        return StoreRow(RecordID(id), values, in: Self.schema)
    }

    /// The operation as a document, without the properties that most operations lack.
    package var record: JSON {
        var record = row.record
        for name in Self.optionalNames where record[name]?.isNull ?? false { record[name] = nil }
        return record
    }

    private static let optionalNames: [PropertyName] = [
        "tags", "group", "mergeable", "failedAttempts", "frozen", "notBefore", "user", "headers",
        "delay", "overruled",
    ]

    /// Reads the operation from a record of ``schema``.
    package init(record: JSON) throws(SluiceError) {
        guard let id = record["id"]?.string, let sequence = record["sequence"]?.int,
            let table = record["table"]?.string, let recordID = record["record"]?.textID,
            let kind = record["kind"]?.string.flatMap(Kind.init),
            let state = record["state"]?.string.flatMap(State.init),
            let revision = record["revision"]?.int, let attempts = record["attempts"]?.int,
            let createdAt = record["createdAt"]?.string.flatMap({ Timestamp($0) })
        else {
            throw SluiceError(
                .storeCorrupt, "the queue holds an operation that cannot be read", operationID: record["id"]?.string)
        }
        self.init(
            id: id, sequence: sequence, table: table, recordID: recordID, kind: kind, createdAt: createdAt)
        self.state = state
        self.revision = Int(revision)
        self.attempts = Int(attempts)
        isUncertain = record["uncertain"]?.bool ?? false
        failure = record["failure"].flatMap(Failure.init(json:))
        sent = (record["sent"]?.elements ?? []).compactMap(SentBody.init(json:))
        tags = Set((record["tags"]?.elements ?? []).compactMap(\.string))
        headers = HTTPFields(json: record["headers"]) ?? [:]
        group = record["group"]?.string
        isMergeable = record["mergeable"]?.bool ?? true
        failedAttempts = record["failedAttempts"]?.int.map(Int.init) ?? 0
        frozen = record["frozen"].flatMap { $0.isNull ? nil : $0 }
        user = record["user"]?.string ?? ""
        notBefore = record["notBefore"]?.string.flatMap { Timestamp($0) }
        delay = record["delay"]?.int.map { .nanoseconds($0) }
        overruled = record["overruled"].flatMap { $0.isNull ? nil : $0 }
    }
}

extension TableOperation.Failure {
    var json: JSON {
        var json: JSON = ["code": JSON(code), "message": JSON(message)]
        if let status { json["status"] = JSON(status) }
        if let serverRecord { json["server"] = serverRecord }
        if let request {
            json["wireRequest"] = [
                "method": JSON(request.method), "address": JSON(request.address), "body": request.body,
            ]
        }
        return json
    }

    init?(json: JSON) {
        guard let code = json["code"]?.string, let message = json["message"]?.string else { return nil }
        self.init(
            code: code, message: message, status: json["status"]?.int.map(Int.init), serverRecord: json["server"])
        if let sent = json["wireRequest"], let method = sent["method"]?.string, let address = sent["address"]?.string {
            request = SyncRequest.Sent(method: method, address: address, body: sent["body"] ?? .null)
        }
    }
}
