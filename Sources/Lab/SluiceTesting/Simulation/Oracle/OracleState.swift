internal import SluiceCore

/// What the oracle knows. The checks are in extensions, by what they are told of.
struct OracleState: Sendable {
    let columns: PushColumns
    /// Whether filters of others may change what goes over the wire.
    let hasFilters: Bool
    var devices: [DeviceView]
    var violation: SimulationViolation?
    var lastValue: Int64 = 0
    /// Counts edits and effects, so that one can be said to be before another.
    var moment = 0
    var clockSteps = 0

    // What the server has had.
    var held: Set<FieldValue> = []
    /// Rows that are there, with the moment since which they are.
    var aliveSince: [RecordKey: Int] = [:]
    /// Each version's row, as it goes over the wire.
    var history: [String: JSON] = [:]
    /// The operations that were on the record before an operation, itself among them: it stands after what they did.
    var heritages: [String: Set<String>] = [:]
    /// The last one of each record to go.
    var lastEnded: [DeviceRecord: (id: String, moment: Int)] = [:]
    /// How often a request took effect.
    var effects: [String: Int] = [:]
    /// The requests that took effect on a record.
    var requestsOn: [RecordKey: Set<String>] = [:]
    /// Which request made a version.
    var authors: [String: String] = [:]
    /// The versions by which a deleted row came back, with what others had written to it before.
    var revivals: Set<String> = []
    /// What went out under each request's id.
    var requests: [String: String] = [:]
    var lastEffects: [DeviceRecord: EffectOrder] = [:]
    /// The records whose last change by a device was their deletion.
    var deletedLast: Set<DeviceRecord> = []
    /// The order of operations on a record. Places in the queue are used again, so they do not tell it for ever.
    var ranks: [String: Int] = [:]
    var lastRank = 0
    /// Since when the deletion stands that an operation says.
    var deletions: [String: Int] = [:]
    /// The operations that were deletes when they were put into a queue.
    var deletes: Set<String> = []
    /// Those that were inserts or undeletes then.
    var comebacks: Set<String> = []
    /// The operations that have met a conflict.
    var conflicted: Set<String> = []
    /// What the server had when they met it.
    var contested: [String: Set<FieldValue>] = [:]
    /// The operations of which some revision took effect.
    var effective: Set<String> = []

    // Groups and users.
    /// The operations of each group that are in a queue, and when they were put there.
    var members: [String: Set<String>] = [:]
    var groups: [String: String] = [:]
    /// Those of each group that have left their queue, and when.
    var leavers: [String: [(operation: String, record: DeviceRecord, moment: Int)]] = [:]
    var groupsSince: [String: Int] = [:]
    /// The operations that one request brought, by their groups.
    var arrived: [String: Set<String>] = [:]
    /// Who wrote a value, and who made an operation.
    var writers: [FieldValue: Int] = [:]
    var makers: [String: Int] = [:]

    // Transfers and backups.
    /// The operations that came from another device's queue.
    var transferred: Set<String> = []
    /// The last version that the server had given out when its rows last went back to what they were; nil where they
    /// never have.
    var restoredAt: Int?
    var hasRestored: Bool { restoredAt != nil }

    struct DeviceRecord: Hashable, Sendable {
        let device: Int
        let key: RecordKey
    }

    struct EffectOrder: Comparable, Sendable {
        let rank: Int
        let revision: Int

        static func < (left: EffectOrder, right: EffectOrder) -> Bool {
            (left.rank, left.revision) < (right.rank, right.revision)
        }
    }

    /// Whether the server keeps nothing of rows that were deleted.
    let forgetsDeleted: Bool
    /// Whether the server may make other values of what it is sent.
    let mayChangeValues: Bool
    /// The properties that applications write.
    let fields: SimulatedFields
    /// Whether a hook of the applications changes what pulls bring.
    let tidiesPages: Bool
    /// Whether the server sets a property of its own with each write.
    let keepsAuthors: Bool
    /// Whether a copy of the server's data that lags may answer reads.
    let hasReplicas: Bool
    let ids: SimulatedIDs

    /// How often changes of a record were sent without an answer that proves that nothing was done.
    var unproven: [DeviceRecord: Int] = [:]

    init(
        devices: Int, columns: PushColumns, hasFilters: Bool,
        fields: SimulatedFields = SimulatedFields(areTwins: false),
        forgetsDeleted: Bool = false, mayChangeValues: Bool = false, tidiesPages: Bool = false,
        keepsAuthors: Bool = false, hasReplicas: Bool = false, ids: SimulatedIDs = SimulatedIDs([])
    ) {
        self.tidiesPages = tidiesPages
        self.keepsAuthors = keepsAuthors
        self.hasReplicas = hasReplicas
        self.ids = ids
        self.forgetsDeleted = forgetsDeleted
        self.columns = columns
        self.fields = fields
        self.mayChangeValues = mayChangeValues
        self.hasFilters = hasFilters
        self.devices = Array(repeating: DeviceView(), count: devices)
    }

    mutating func violate(_ invariant: SimulationInvariant, _ message: @autoclosure () -> String) {
        if violation == nil { violation = SimulationViolation(invariant: invariant, message: message()) }
    }

    /// Whether the record was absent on the server at that moment or later.
    func wasAbsent(_ key: RecordKey, since moment: Int) -> Bool { aliveSince[key].map { $0 > moment } ?? true }
}

/// What a device's store holds, as its committed transactions tell.
struct DeviceView: Sendable {
    /// Who works on it.
    var user = 0
    var tables: [String: [RecordID: JSON]] = [:]
    var operations: [RecordKey: [String: OperationView]] = [:]
    var audit: [RecordKey: [(moment: Int, entry: JSON)]] = [:]
    /// What stays on the device with a record, as it was written last.
    var memos: [RecordKey: Int64] = [:]
    /// What was written and must not be lost.
    var claims: [RecordKey: [OracleClaim]] = [:]
    /// Records that an edit is being made of.
    var editing: [RecordKey: Int] = [:]
    /// What the application has written, or a conflict handler.
    var offered: Set<FieldValue> = []
    /// What rows have shown to the application, and conflicts that it has decided.
    var shown: Set<FieldValue> = []
    /// The places at which versions came to its records first, by their names.
    private(set) var versions: [String: Int] = [:]
    /// What the application gave up when it decided a conflict.
    var waived: Set<FieldValue> = []
    var waivedDeletes: Set<RecordKey> = []

    /// Notes that a record has that version.
    mutating func note(_ version: String) { versions[version] = versions[version] ?? versions.count }

    func row(_ key: RecordKey) -> JSON? { tables[key.table]?[key.id] }

    /// Whether nothing of a user is there.
    var isEmpty: Bool {
        operations.isEmpty && editing.isEmpty && (tables["items"] ?? [:]).isEmpty && (tables["notes"] ?? [:]).isEmpty
    }

    func operations(on key: RecordKey) -> [OperationView] {
        (operations[key] ?? [:]).values.sorted { $0.sequence < $1.sequence }
    }

    /// All operations in their order, for a message.
    var queue: String {
        operations.values.flatMap(\.values).sorted { $0.sequence < $1.sequence }.map(\.description)
            .joined(separator: ", ")
    }
}

/// An operation as the store has it.
struct OperationView: Sendable {
    let id: String
    let key: RecordKey
    let kind: String
    let state: String
    let sequence: Int64
    let group: String?
    let record: JSON

    init?(_ record: JSON) {
        guard let id = record["id"]?.string, let table = record["table"]?.string,
            let recordID = record["record"]?.textID, let kind = record["kind"]?.string,
            let state = record["state"]?.string, let sequence = record["sequence"]?.int
        else { return nil }
        self.id = id
        key = RecordKey(table: table, id: recordID)
        self.kind = kind
        self.state = state
        self.sequence = sequence
        group = record["group"]?.string
        self.record = record
    }

    /// For a message.
    var description: String {
        "\(kind) of \(key) \(state) of \(record["user"]?.string ?? "no user")" + (group.map { " in group \($0)" } ?? "")
    }

    /// Whether it failed last by a conflict, and not by the server's saying no to what was decided.
    var hasMetConflict: Bool { [409, 412].contains(record["failure"]?["status"]?.int ?? 0) }

    /// Whether a body that was sent or is to be sent for it has that value.
    func says(_ field: String, _ value: Int64, _ fields: SimulatedFields) -> Bool {
        let sent = (record["sent"]?.elements ?? []).flatMap { [$0["final"], $0["local"]] }
        return ([record["frozen"]] + sent).contains { fields.value(field, of: $0) == value }
    }
}

/// What became of a write that was acknowledged has to be known for ever.
enum OracleClaim: Sendable {
    /// That property was given that value.
    case value(field: String, Int64)
    /// It was, and the record was deleted after that: who takes the deletion back has it again.
    case deleted(field: String, Int64)
    /// The record was deleted, at that moment.
    case deletion(Int)
}

/// An invariant that did not hold.
public struct SimulationViolation: Error, Sendable, Hashable, CustomStringConvertible {
    /// Which one.
    public let invariant: SimulationInvariant
    /// What was seen, as a sentence.
    public let message: String

    /// The name and what was seen.
    public var description: String { "\(invariant.rawValue): \(message)" }
}

/// Operations that go on in another device's queue, and a server that is as it was.
extension OracleState {
    /// What waits for a record is about to be put into another queue: with it go the values that its application wrote.
    mutating func moves(_ operations: [String], of key: RecordKey, from device: Int, to other: Int) {
        for operation in operations {
            transferred.insert(operation)
            // They get places after what that device did before.
            ranks[operation] = nil
            // Their group comes to that queue together, at another moment than to this one.
            if let group = groups[operation] { groupsSince[group] = nil }
        }
        devices[other].offered.formUnion(devices[device].offered.filter { $0.key == key })
        devices[other].shown.formUnion(devices[device].shown.filter { $0.key == key })
    }

    /// They are in the other queue, and given up in this one: what was written here must not be lost there.
    mutating func moved(_ key: RecordKey, from device: Int, to other: Int) {
        guard let claims = devices[device].claims.removeValue(forKey: key) else { return }
        devices[other].claims[key] = claims
        checkClaims(of: key, on: other)
    }

    /// The server's rows are what they were once: what happened since has never happened there, and no device is told.
    ///
    /// - Parameter version: the last that it has given out.
    mutating func restored(_ tables: [String: [RecordID: SimulatedRow]], at version: Int) {
        moment += 1
        restoredAt = version
        clockSteps += 1
        let rows = tables.flatMap { table, rows in rows.values.map { (RecordKey(table: table, id: $0.id), $0) } }
        let alive = Dictionary(uniqueKeysWithValues: rows.filter { !$0.1.isDeleted })
        aliveSince = alive.reduce(into: [:]) { $0[$1.key] = aliveSince[$1.key] ?? moment }
        deletedLast = []
        // What took effect before may do so again.
        effects = [:]
        requestsOn = [:]
        effective = []
    }
}
