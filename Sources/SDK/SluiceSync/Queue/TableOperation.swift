public import HTTPTypes
public import SluiceBase
public import SluiceWire

/// A change that was made locally and waits to reach the server.
///
/// It is stored in the same transaction as the row it changes, and removed in the transaction that stores the server's
/// answer. In between it can be listed, retried and discarded through ``SyncContext/queue``. What another change of the
/// record does to it is the table in `Changes/Collapse.swift`.
public struct TableOperation: Sendable, Hashable, Identifiable {
    /// What the operation does on the server.
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

    /// Where the operation stands.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// It will be sent by the next push.
        case pending
        /// It is being sent, or was when the process ended. Its body is frozen: a newer edit becomes its successor.
        case inFlight
        /// It waits for a decision, with the reason in ``TableOperation/failure``. Successors on the record wait after
        /// it.
        case parked
        /// It has failed too often, with the reason in ``TableOperation/failure``.
        case dead
    }

    /// The operation's id, made before it is first stored; with ``revision`` it is the request's id on the wire.
    public let id: String
    /// The place in the queue; smaller goes first.
    public var sequence: Int64
    /// The table.
    public let table: String
    /// The record.
    public internal(set) var recordID: RecordID
    /// What it does.
    public var kind: Kind
    /// Where it stands.
    public var state: State = .pending
    /// How often the body has been changed by later edits, from 1.
    public var revision = 1
    /// How often it has been sent.
    public var attempts = 0
    /// Whether a send ended without an answer that shows what became of it: the server may have done it already.
    public var isUncertain = false
    /// Why it did not go through the last time.
    public var failure: Failure?
    /// When it was made.
    public var createdAt: Timestamp
    /// The application's tags, for its filters and for pushes of a part of the queue.
    public var tags: Set<String> = []
    /// The application's header fields, which its requests carry.
    public var headers: HTTPFields = [:]
    /// The group whose changes reach the server all together or not at all; nil for one that stands alone.
    public var group: String?
    /// Whether later edits of the record may become part of it. One that is not goes out as it was made.
    public var isMergeable = true
    /// How often in a row it has failed at the server for a reason of its own; at ``SyncOptions/maximumAttempts`` it
    /// is dead. Failures of the network and of a server that is busy do not count.
    public var failedAttempts = 0
    /// Not before that time is it sent, because a hook has it wait; nil where none does.
    public var notBefore: Timestamp?
    /// The user whose change it is (``SyncOptions/user``): pushes of other users hold it. Empty for one that no user
    /// made in particular, which the first push sends.
    public var user: String {
        get { maker.text }
        set { maker = ExactName(newValue) }
    }
    private var maker = ExactName("")
    /// The local record as this operation made it, kept when a successor changes the record before this one is sent. Of
    /// a delete: as the edit made it whose place the delete took, until the delete may have been done.
    package var frozen: JSON?
    /// What has been sent so far and may have taken effect, the newest last.
    package var sent: [SentBody] = []

    /// Why an operation did not go through.
    public struct Failure: Sendable, Hashable {
        /// The reason's code, as ``SluiceError/Code`` prints it.
        public var code: String
        /// The reason as a value; nil for a code of another version.
        public var reason: SluiceError.Code? { SluiceError.Code(code) }
        /// The reason, for a person.
        public var message: String
        /// The status of the server's answer.
        public var status: Int?
        /// The server's record, where it sent one; for a conflict the version to decide against.
        public var serverRecord: JSON?
        /// The request as it went over the wire; nil where none did.
        public var request: SentRequest?

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

    /// Whether a later change of the record may become part of this operation: neither stands apart, and both are of
    /// one group and one user.
    func mayTake(_ later: TableOperation) -> Bool {
        isMergeable && later.isMergeable && group == later.group && maker == later.maker
    }

    /// Whether the operation has gone out at least once.
    public var wasSent: Bool { attempts > 0 }
    /// Whether the server refused it, and no send before that can have taken effect.
    var wasRefused: Bool { isHeld && !isUncertain }
    /// Whether a push of that user may send it, and a change of that user become part of it.
    func belongs(to user: String) -> Bool { self.user.isEmpty || maker == ExactName(user) }
    /// Whether it waits for someone: pushes pass it by.
    var isHeld: Bool { state == .parked || state == .dead }
    /// The id of the request: stays the same when the same body is sent again, so that a server can recognise it.
    public var requestID: String { "\(id)-\(revision)" }

    /// The record as it is without the changes after this one.
    func resultingRecord(local: JSON?, mirror: JSON?) -> JSON? {
        switch kind {
        case .delete: nil
        case .undelete: frozen ?? mirror
        case .insert, .update: frozen ?? sentAsIs?.local ?? sent.last { $0.local != nil }?.local ?? local
        }
    }

    /// Whether a hook has it wait at that time. A clock that was set back does not make it longer than a hook may say.
    func waits(at now: Timestamp) -> Bool {
        guard let notBefore else { return false }
        return notBefore > now && now.duration(to: notBefore) <= Self.longestDelay
    }

    /// The longest time that a hook can have an operation wait.
    static let longestDelay = Duration.seconds(30 * 86_400)

    /// What was sent for the revision that it has now.
    var sentAsIs: SentBody? { sent.last { $0.revision == revision } }

    /// Notes that the last send ended without an answer that shows what became of it.
    mutating func doubt() {
        isUncertain = true
        // What may have been done cannot be taken back unsaid.
        if kind == .delete { frozen = nil }
        if let index = sent.lastIndex(where: { $0.revision == revision }) { sent[index].mayBeDone = true }
    }

    /// Takes it for never done, on somebody's word: what was sent may go out again as it was.
    mutating func forgetDoubt() {
        isUncertain = false
        for index in sent.indices { sent[index].mayBeDone = false }
    }

    /// Whether it may have made a record on the server that was never seen here.
    ///
    /// - Parameter mirror: the newest record that is known from the server.
    func mayHaveMadeRecord(mirror: JSON?) -> Bool {
        mirror == nil && (isUncertain || state == .inFlight) && (kind == .insert || kind == .delete)
    }

    /// Ready to be sent with a new body, whatever it waited for before.
    mutating func revise() {
        revision += 1
        frozen = nil
        revive()
    }

    /// Whether it is held because the server has another record than it was made on.
    package var isHeldConflict: Bool {
        state == .parked && (failure?.reason == .conflict || failure?.serverRecord != nil)
    }

    /// Whether it is held because it may have made a row that nobody can find.
    var isMaybeApplied: Bool { isHeld && failure?.reason == .maybeApplied }

    /// Ready to be sent again, whatever it waited for before.
    mutating func revive() {
        state = .pending
        failure = nil
        failedAttempts = 0
        notBefore = nil
    }
}

extension TableOperation {
    /// The table of the store in which operations are kept.
    package static let schema = TableSchema(
        "sluice_operations",
        columns: [
            .init("sequence", .integer), .init("table", .string), .init("record", .string), .init("kind", .string),
            .init("state", .string), .init("revision", .integer), .init("attempts", .integer),
            .init("uncertain", .boolean), .init("createdAt", .date), .init("failure", .json), .init("sent", .json),
            .init("tags", .json), .init("group", .string), .init("mergeable", .boolean),
            .init("failedAttempts", .integer), .init("frozen", .json), .init("notBefore", .date),
            .init("user", .string), .init("headers", .json),
        ],
        indexes: [["table", "record"], ["sequence"], ["group"], ["state"]])

    /// The values of the columns of ``schema``, in their order.
    var values: [ColumnValue] {
        [
            .integer(sequence), .text(table), .text(recordID.text), .text(kind.rawValue), .text(state.rawValue),
            .integer(Int64(revision)), .integer(Int64(attempts)), .boolean(isUncertain), .text(createdAt.description),
            failure.map { .json($0.json) } ?? .null, .json(JSON(sent.map(\.json))),
            tags.isEmpty ? .null : .json(JSON(tags.sorted().map { JSON($0) })), group.map(ColumnValue.text) ?? .null,
            isMergeable ? .null : .boolean(false), failedAttempts > 0 ? .integer(Int64(failedAttempts)) : .null,
            frozen.map(ColumnValue.json) ?? .null, notBefore.map { .text($0.description) } ?? .null,
            user.isEmpty ? .null : .text(user), headers.isEmpty ? .null : .json(headers.json),
        ]
    }

    /// The operation as a record of ``schema``, with null for what it does not have: a store that keeps columns then need
    /// not note which are absent.
    var row: JSON {
        var row: JSON = ["id": JSON(id)]
        for (column, value) in zip(Self.schema.columns, values) { row[column.name] = value.json }
        return row
    }

    /// The operation as a document: the same without what most operations do not have.
    package var record: JSON {
        var record = row
        for name in Self.optionalNames where record[name]?.isNull ?? false { record[name] = nil }
        return record
    }

    private static let optionalNames: [PropertyName] = [
        "tags", "group", "mergeable", "failedAttempts", "frozen", "notBefore", "user", "headers",
    ]

    /// The operation that a record of ``schema`` stands for.
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
            request = SentRequest(method: method, address: address, body: sent["body"] ?? .null)
        }
    }
}
