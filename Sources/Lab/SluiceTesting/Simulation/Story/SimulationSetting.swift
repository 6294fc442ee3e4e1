public import SluiceCore

/// The world of a story: drawn from the seed, and fixed until its end.
public struct SimulationSetting: Sendable, Hashable {
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
    /// The number of the built-in conflict handler: see ``SimulatedHandler``.
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

    var json: JSON {
        [
            "devices": JSON(devices), "wire": JSON(wire), "store": JSON(store), "serverPage": JSON(serverPage),
            "devicePage": JSON(devicePage), "commitLag": JSON(commitLag), "policy": JSON(policy.rawValue),
            "handler": JSON(handler), "attempts": JSON(attempts), "queries": JSON(queries), "grain": JSON(grain),
            "digits": JSON(digits), "skews": JSON(skews.map { JSON($0) }), "shuffles": JSON(shuffles),
            "remembersRequests": JSON(remembersRequests), "takesBatches": JSON(takesBatches),
            "batchSize": JSON(batchSize), "concurrency": JSON(concurrency), "tracksChanges": JSON(tracksChanges),
            "breaksTies": JSON(breaksTies), "offersDigests": JSON(offersDigests),
            "deletesForGood": JSON(deletesForGood), "reconcileEvery": reconcileEvery.map { JSON($0) } ?? .null,
            "usesTokens": JSON(usesTokens), "users": JSON(users), "makesGroups": JSON(makesGroups),
            "dependency": JSON(dependency.rawValue), "keepsMemos": JSON(keepsMemos),
            "tellsTime": JSON(tellsTime), "restartsToHeal": JSON(restartsToHeal),
            "keepsApart": JSON(keepsApart), "repairs": JSON(repairs), "handsOver": JSON(handsOver),
            "restoresBackups": JSON(restoresBackups), "hookMishaps": JSON(hookMishaps),
            "queuePart": JSON(queuePart), "makesTransactions": JSON(makesTransactions),
            "reconsiders": JSON(reconsiders), "tidiesPages": JSON(tidiesPages),
            "service": JSON(service.map(\.rawValue).sorted().map { JSON($0) }),
            "habits": JSON(traits.map(\.rawValue).sorted().map { JSON($0) }),
            "faults": JSON(
                members: faults.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key.rawValue, JSON($0.value)) }),
        ]
    }

    init?(json: JSON) {
        func int(_ name: String) -> Int? { json[name]?.int.map { Int($0) } }
        guard let devices = int("devices"), let wire = json["wire"]?.string, let store = int("store"),
            let serverPage = int("serverPage"), let devicePage = int("devicePage"),
            let commitLag = int("commitLag"), let policy = json["policy"]?.string.flatMap(ConflictPolicy.init),
            let handler = int("handler"), let attempts = int("attempts"), let queries = int("queries"),
            let grain = int("grain"), let digits = int("digits")
        else { return nil }
        self.devices = devices
        self.wire = wire
        self.store = store
        self.serverPage = serverPage
        self.devicePage = devicePage
        self.commitLag = commitLag
        self.policy = policy
        self.handler = handler
        self.attempts = attempts
        self.queries = queries
        self.grain = grain
        self.digits = digits
        skews = (json["skews"]?.elements ?? []).compactMap { $0.int.map { Int($0) } }
        shuffles = json["shuffles"]?.bool ?? false
        remembersRequests = json["remembersRequests"]?.bool ?? false
        takesBatches = json["takesBatches"]?.bool ?? false
        batchSize = int("batchSize") ?? 1
        concurrency = int("concurrency") ?? 1
        tracksChanges = json["tracksChanges"]?.bool ?? false
        // Later properties are absent from older stories.
        breaksTies = json["breaksTies"]?.bool ?? true
        offersDigests = json["offersDigests"]?.bool ?? false
        deletesForGood = json["deletesForGood"]?.bool ?? false
        reconcileEvery = int("reconcileEvery")
        usesTokens = json["usesTokens"]?.bool ?? false
        users = int("users") ?? 1
        makesGroups = json["makesGroups"]?.bool ?? false
        dependency = json["dependency"]?.string.flatMap(SimulationDependency.init) ?? .none
        keepsMemos = json["keepsMemos"]?.bool ?? false
        tellsTime = json["tellsTime"]?.bool ?? true
        restartsToHeal = json["restartsToHeal"]?.bool ?? true
        keepsApart = json["keepsApart"]?.bool ?? false
        repairs = json["repairs"]?.bool ?? false
        handsOver = json["handsOver"]?.bool ?? false
        restoresBackups = json["restoresBackups"]?.bool ?? false
        hookMishaps = json["hookMishaps"]?.double ?? 0
        queuePart = int("queuePart") ?? 2000
        makesTransactions = json["makesTransactions"]?.bool ?? false
        reconsiders = json["reconsiders"]?.bool ?? false
        tidiesPages = json["tidiesPages"]?.bool ?? false
        traits = Set((json["habits"]?.elements ?? []).compactMap { $0.string.flatMap(ServerTrait.init) })
        service = Set((json["service"]?.elements ?? []).compactMap { $0.string.flatMap(ServiceTrait.init) })
        for (name, value) in json["faults"]?.members ?? [] {
            if let fault = SimulationFault(rawValue: name.text), let value = value.double { faults[fault] = value }
        }
    }
}

/// The dependency of a story's notes on its items.
public enum SimulationDependency: String, Sendable, Hashable, CaseIterable {
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
