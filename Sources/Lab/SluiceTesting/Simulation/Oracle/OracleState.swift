internal import SluiceCore

/// The data of the checker. The checks are in extensions, by their kind of event.
struct OracleState: Sendable {
    let columns: PushColumns
    /// Whether user filters may change requests and answers.
    let hasFilters: Bool
    var devices: [DeviceView]
    var violation: SimulationViolation?
    var lastValue: Int64 = 0
    /// The count of edits and effects, which gives them an order.
    var moment = 0
    var clockSteps = 0

    // The data of the server.
    var held: Set<FieldValue> = []
    /// The moment since which each existing row exists.
    var aliveSince: [RecordKey: Int] = [:]
    /// The row of each version, in its wire form.
    var history: [String: JSON] = [:]
    /// The operations on the record before an operation, and the operation itself: it builds on their effects.
    var heritages: [String: Set<String>] = [:]
    /// The operation of each record that left the queue last.
    var lastEnded: [DeviceRecord: (id: String, moment: Int)] = [:]
    /// The number of times that a request took effect.
    var effects: [String: Int] = [:]
    /// The requests that took effect on a record.
    var requestsOn: [RecordKey: Set<String>] = [:]
    /// The request that made each version.
    var authors: [String: String] = [:]
    /// The versions by which a deleted row came back, with earlier values of other clients.
    var revivals: Set<String> = []
    /// The text sent under each request's id.
    var requests: [String: String] = [:]
    var lastEffects: [DeviceRecord: EffectOrder] = [:]
    /// The records whose last change by a device was their deletion.
    var deletedLast: Set<DeviceRecord> = []
    /// The order of operations on a record. Positions in the queue are reused, so they cannot show it.
    var ranks: [String: Int] = [:]
    var lastRank = 0
    /// The moment from which an operation's deletion counts.
    var deletions: [String: Int] = [:]
    /// The operations that were deletes when they were put into a queue.
    var deletes: Set<String> = []
    /// The operations that were inserts or undeletes at that time.
    var comebacks: Set<String> = []
    /// The operations that have met a conflict.
    var conflicted: Set<String> = []
    /// The operations whose conflict with their own earlier change cannot be told from one with another user.
    var undecidable: Set<String> = []
    /// The server's values at the conflict of an operation.
    var contested: [String: Set<FieldValue>] = [:]
    /// The operations with a revision that took effect.
    var effective: Set<String> = []

    // Groups and users.
    /// The queued operations of each group.
    var members: [String: Set<String>] = [:]
    var groups: [String: String] = [:]
    /// The operations of each group that have left their queue, with the moment.
    var leavers: [String: [(operation: String, record: DeviceRecord, moment: Int)]] = [:]
    var groupsSince: [String: Int] = [:]
    /// The operations that one request carried, by their groups.
    var arrived: [String: Set<String>] = [:]
    /// The user who wrote a value.
    var writers: [FieldValue: Int] = [:]
    var makers: [String: Int] = [:]

    // Transfers and backups.
    /// The operations that came from another device's queue.
    var transferred: Set<String> = []
    /// The version that a device had of a record when operations on it came from another device. That device may know a
    /// newer one, and a change that is given up goes back to this one.
    var versionsAtTransfer: [DeviceRecord: String] = [:]
    /// The server's last version when its rows last went back to a backup; nil if they never did.
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

    /// Whether the server removes deleted rows completely.
    let forgetsDeleted: Bool
    /// Whether the server may change sent values.
    let mayChangeValues: Bool
    /// The properties that applications write.
    let fields: SimulatedFields
    /// Whether a hook of the applications changes pulled rows.
    let tidiesPages: Bool
    /// Whether the server sets a property of its own at each write.
    let keepsAuthors: Bool
    /// Whether a lagging replica of the server may answer reads.
    let hasReplicas: Bool
    /// Whether a device began with an old SDK's store, which has of a changed record's base the id and version alone.
    let adopts: Bool
    let ids: SimulatedIDs

    /// The requests of which the network delivered two copies and brought the second one's refusal, which shows no record.
    var refusedAsCopies: Set<String> = []

    /// The number of sends of a record's changes without an answer that proves that nothing was done.
    var unproven: [DeviceRecord: Int] = [:]

    init(
        devices: Int, columns: PushColumns, hasFilters: Bool,
        fields: SimulatedFields = SimulatedFields(areTwins: false),
        forgetsDeleted: Bool = false, mayChangeValues: Bool = false, tidiesPages: Bool = false,
        keepsAuthors: Bool = false, hasReplicas: Bool = false, adopts: Bool = false,
        ids: SimulatedIDs = SimulatedIDs([])
    ) {
        self.tidiesPages = tidiesPages
        self.keepsAuthors = keepsAuthors
        self.hasReplicas = hasReplicas
        self.adopts = adopts
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

/// The contents of a device's store, according to its committed transactions.
struct DeviceView: Sendable {
    /// The user who works on the device.
    var user = 0
    var tables: [String: [RecordID: JSON]] = [:]
    var operations: [RecordKey: [String: OperationView]] = [:]
    var audit: [RecordKey: [(moment: Int, entry: JSON)]] = [:]
    /// The last value of each record's local-only column.
    var memos: [RecordKey: Int64] = [:]
    /// The writes that must not be lost.
    var claims: [RecordKey: [OracleClaim]] = [:]
    /// The number of edits of a record that are under way.
    var editing: [RecordKey: Int] = [:]
    /// The values written by the application or a conflict handler.
    var offered: Set<FieldValue> = []
    /// The values that the application has seen, in rows and in the conflicts that it decided.
    var shown: Set<FieldValue> = []
    /// The order in which versions first came to the device's records, by their names.
    private(set) var versions: [String: Int] = [:]
    /// The values that the application dropped by deciding a conflict.
    var waived: Set<FieldValue> = []
    var waivedDeletes: Set<RecordKey> = []

    /// Notes that a record has that version.
    mutating func note(_ version: String) { versions[version] = versions[version] ?? versions.count }

    func row(_ key: RecordKey) -> JSON? { tables[key.table]?[key.id] }

    /// Whether the device has no data of a user.
    var isEmpty: Bool {
        operations.isEmpty && editing.isEmpty && (tables["items"] ?? [:]).isEmpty && (tables["notes"] ?? [:]).isEmpty
    }

    func operations(on key: RecordKey) -> [OperationView] {
        (operations[key] ?? [:]).values.sorted { $0.sequence < $1.sequence }
    }

    /// All operations in their order, for messages.
    var queue: String {
        operations.values.flatMap(\.values).sorted { $0.sequence < $1.sequence }.map(\.description)
            .joined(separator: ", ")
    }
}

/// An operation as stored by a device.
struct OperationView: Sendable {
    let id: String
    let key: RecordKey
    let kind: String
    let state: String
    let sequence: Int64
    let group: String?
    let record: JSON
    /// The moment of the commit that stored it.
    var since = 0

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

    /// The operation as text, for messages.
    var description: String {
        "\(kind) of \(key) \(state) of \(record["user"]?.string ?? "no user")" + (group.map { " in group \($0)" } ?? "")
    }

    /// Whether the last failure was a conflict, and not a refusal of the decision.
    var hasMetConflict: Bool { [409, 412].contains(record["failure"]?["status"]?.int ?? 0) }

    /// Whether a sent or planned body of the operation has that value.
    func says(_ field: String, _ value: Int64, _ fields: SimulatedFields) -> Bool {
        let sent = (record["sent"]?.elements ?? []).flatMap { [$0["final"], $0["local"]] }
        return ([record["frozen"]] + sent).contains { fields.value(field, of: $0) == value }
    }
}

/// An acknowledged write whose outcome the checker follows until it is known.
enum OracleClaim: Sendable {
    /// The property was given that value.
    case value(field: String, Int64)
    /// The property was given that value, and the record was deleted later: taking the deletion back restores the
    /// value.
    case deleted(field: String, Int64)
    /// The record was deleted, at that moment.
    case deletion(Int)
}

/// An invariant that did not hold.
public struct SimulationViolation: Error, Sendable, Hashable, CustomStringConvertible {
    /// The invariant.
    public let invariant: SimulationInvariant
    /// The observation, as a sentence.
    public let message: String

    /// The name and the observation.
    public var description: String { "\(invariant.rawValue): \(message)" }
}

/// Operations that move to another device's queue, and a server restored from a backup.
extension OracleState {
    /// Takes in that operations are about to move to another queue, with the values that the application wrote.
    mutating func moves(_ operations: [String], of key: RecordKey, from device: Int, to other: Int) {
        for operation in operations {
            transferred.insert(operation)
            // They get positions after the earlier operations of that device.
            ranks[operation] = nil
            // A group is queued there at once too, but at another moment than here.
            if let group = groups[operation] { groupsSince[group] = nil }
        }
        versionsAtTransfer[DeviceRecord(device: other, key: key)] = devices[other].row(key)?[columns.version]?.string
        devices[other].offered.formUnion(devices[device].offered.filter { $0.key == key })
        devices[other].shown.formUnion(devices[device].shown.filter { $0.key == key })
    }

    /// Takes in that the operations are in the other queue, and discarded here: their writes must not be lost there.
    mutating func moved(_ key: RecordKey, from device: Int, to other: Int) {
        guard let claims = devices[device].claims.removeValue(forKey: key) else { return }
        devices[other].claims[key] = claims
        checkClaims(of: key, on: other)
    }

    /// Takes in that the server's rows are those of a backup. Later changes are gone there, and no device is told.
    ///
    /// - Parameter version: the last version that the server has issued.
    mutating func restored(_ tables: [String: [RecordID: SimulatedRow]], at version: Int) {
        moment += 1
        restoredAt = version
        clockSteps += 1
        let rows = tables.flatMap { table, rows in rows.values.map { (RecordKey(table: table, id: $0.id), $0) } }
        let alive = Dictionary(uniqueKeysWithValues: rows.filter { !$0.1.isDeleted })
        aliveSince = alive.reduce(into: [:]) { $0[$1.key] = aliveSince[$1.key] ?? moment }
        deletedLast = []
        // Earlier effects may happen again.
        effects = [:]
        requestsOn = [:]
        effective = []
    }
}
