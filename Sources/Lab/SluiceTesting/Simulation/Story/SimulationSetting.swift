public import SluiceCore

/// The world of a story: drawn from the seed, and fixed until its end.
public struct SimulationSetting: Sendable, Hashable, Decodable, JSONPrinted {
    /// The number of devices.
    public var devices = 2
    /// The wire's name.
    public var wire = "azure-v2"
    /// The index of the devices' store in the configuration's list.
    public var store = 0
    /// The server's page size.
    public var serverPage = 5
    /// The page size that devices request.
    public var devicePage = 5
    /// The distance of a cursor from the server's clock, in seconds.
    public var commitLag = 30
    /// The policy for conflicts that no handler decides.
    public var policy = ConflictPolicy.clientWins
    /// The number of the built-in conflict handler: see `SimulatedHandler`.
    public var handler = 0
    /// The number of attempts for a request.
    public var attempts = 1
    /// The number of queries that devices pull by name, one for each group of rows; 1 for one query of all rows.
    public var queries = 1
    /// The steps of the server's clock, in milliseconds.
    public var grain = 1
    /// The number of decimals of a second that the server writes; it stores and compares seven.
    public var digits = 3
    /// The error of each device's clock, in seconds.
    public var skews: [Int] = []
    /// Whether ready jobs run in a random order.
    public var shuffles = false
    /// Whether the server remembers requests that had an effect.
    public var remembersRequests = false
    /// Whether the server accepts batches.
    public var takesBatches = false
    /// The number of operations in one batch of a device; 0 for the server's own limit.
    public var batchSize = 1
    /// The number of queued operations that a device's push reads at a time.
    public var queuePart = 2000
    /// The number of operations that a device sends at once.
    public var concurrency = 1
    /// Whether the server issues change tokens.
    public var tracksChanges = false
    /// Whether rows with the same time come in the order of their ids, if the request sorts by both.
    public var breaksTies = true
    /// Whether the server answers requests for digests of its tables.
    public var offersDigests = false
    /// Whether the server removes some deleted rows permanently, so that no change reports them.
    public var deletesForGood = false
    /// The number of pulls after which one ends with a reconcile; nil for never.
    public var reconcileEvery: Int?
    /// Whether the server requires a token, which expires.
    public var usesTokens = false
    /// The number of users who take turns at a device.
    public var users = 1
    /// Whether applications make changes in groups.
    public var makesGroups = false
    /// Whether applications change several records in local transactions.
    public var makesTransactions = false
    /// Whether applications keep a local-only memo with each record.
    public var keepsMemos = false
    /// Whether the server reports its time.
    public var tellsTime = true
    /// Whether all applications restart at the end, when faults are off, and not only those that must.
    public var restartsToHeal = true
    /// Whether some edits are never merged with others.
    public var keepsApart = false
    /// Whether operators repair queues, move parts of them to other devices, purge by name and reword queries.
    public var repairs = false
    /// Whether a user takes over a device with all data of the one before still there.
    public var handsOver = false
    /// Whether the server's operator restores backups.
    public var restoresBackups = false
    /// The probability that a hook of the application fails or decides otherwise.
    public var hookMishaps = 0.0
    /// Whether applications delete a record right after an edit, and take the deletion back.
    public var reconsiders = false
    /// Whether a hook of the application changes pulled rows.
    public var tidiesPages = false
    /// Whether the first device begins with the store of an old SDK.
    public var adopts = false
    /// Whether a codec of the application gives the properties that it writes another form for the server.
    public var translates = false
    /// The traits of the server.
    public var traits: Set<ServerTrait> = []
    /// The traits of its OData service, where the wire is one of OData's.
    public var service: Set<ServiceTrait> = []
    /// The dependency of notes on items: none, by the column that names the item, or as a table.
    public var dependency = SimulationDependency.none
    /// The faults that happen, with their probabilities.
    public var faults: [SimulationFault: Double] = [:]

    init() {}

    /// The properties that applications write.
    var fields: SimulatedFields { SimulatedFields(areTwins: traits.contains(.hasTwinNames)) }

    /// The forms and the order of the records' ids.
    var ids: SimulatedIDs { SimulatedIDs(traits) }

    /// Returns the id of the record with that number.
    func id(_ number: Int) -> RecordID { ids.id(number) }

    /// The members of the JSON, in their order.
    private enum CodingKeys: String, CodingKey {
        case devices, wire, store, serverPage, devicePage, commitLag, policy, handler, attempts, queries, grain, digits
        case skews, shuffles, remembersRequests, takesBatches, batchSize, concurrency, tracksChanges, breaksTies
        case offersDigests, deletesForGood, reconcileEvery, usesTokens, users, makesGroups, dependency, keepsMemos
        case tellsTime, restartsToHeal, keepsApart, repairs, handsOver, restoresBackups, hookMishaps, queuePart
        case makesTransactions, reconsiders, tidiesPages, adopts, translates, service, traits = "habits", faults
    }

    /// Reads a setting. Properties that an older story lacks have their defaults.
    init?(json: JSON) {
        guard json.kind == .object,
            let setting = try? JSONRecordDecoder().decode(Self.self, from: Self().json.setting(json))
        else { return nil }
        self = setting
    }
}

/// The dependency of a story's notes on its items.
public enum SimulationDependency: String, Sendable, Hashable, CaseIterable, Codable {
    /// No dependency.
    case none
    /// Each note depends on the item that its column `item` names.
    case column
    /// All notes depend on all items.
    case table

    /// The dependencies as declared in the devices' contexts.
    var declared: [TableDependency] {
        switch self {
        case .none: []
        case .column: [TableDependency("notes", on: "items", by: "item")]
        case .table: [TableDependency("notes", on: "items")]
        }
    }
}
