public import SluiceCore

/// The world in which a story happens: drawn from the seed, and the same to its end.
public struct SimulationSetting: Sendable, Hashable {
    /// How many devices there are.
    public var devices = 2
    /// The wire's name.
    public var wire = "azure-v2"
    /// Which of the configuration's stores the devices keep their data in.
    public var store = 0
    /// How many rows the server sends at once.
    public var serverPage = 5
    /// How many rows a device asks for at once.
    public var devicePage = 5
    /// How far a cursor stays behind the server's clock, in seconds.
    public var commitLag = 30
    /// What happens to conflicts that no handler decides.
    public var policy = ConflictPolicy.clientWins
    /// Which of the built-in conflict handlers are asked before: see ``SimulatedHandler``.
    public var handler = 0
    /// How often a request is tried.
    public var attempts = 1
    /// The queries that devices pull by name: the number of groups that rows are in, 1 for one query for all rows.
    public var queries = 1
    /// The steps of the server's clock, in milliseconds.
    public var grain = 1
    /// How many digits of a second the server writes; it stores and compares seven.
    public var digits = 3
    /// By how many seconds each device's clock is wrong.
    public var skews: [Int] = []
    /// Whether ready jobs run in a random order.
    public var shuffles = false
    /// Whether the server remembers requests that had an effect.
    public var remembersRequests = false
    /// Whether the server takes batches.
    public var takesBatches = false
    /// How many operations a device puts in one batch; 0 for as many as the server says.
    public var batchSize = 1
    /// How many operations of its queue a device's push reads at a time.
    public var queuePart = 2000
    /// How many operations a device sends at once.
    public var concurrency = 1
    /// Whether the server issues change tokens.
    public var tracksChanges = false
    /// Whether rows of one time come in the order of their ids where that is asked for.
    public var breaksTies = true
    /// Whether the server gives digests of its tables.
    public var offersDigests = false
    /// Whether the server forgets some deleted rows for good, so that no change tells of them.
    public var deletesForGood = false
    /// After how many pulls one ends with a reconcile; nil for never.
    public var reconcileEvery: Int?
    /// Whether the server wants a token, which expires.
    public var usesTokens = false
    /// How many users take turns at a device.
    public var users = 1
    /// Whether applications make changes in groups.
    public var makesGroups = false
    /// Whether applications change several records in local transactions.
    public var makesTransactions = false
    /// Whether applications keep a memo with each record, which stays on the device.
    public var keepsMemos = false
    /// Whether the server reports what time it is.
    public var tellsTime = true
    /// Whether every application is started anew when all is well again, and not only those that have to be.
    public var restartsToHeal = true
    /// Whether some edits never merge with others.
    public var keepsApart = false
    /// Whether operators repair queues, move parts of them to other devices, purge by name and reword queries.
    public var repairs = false
    /// Whether a user takes a device over with everything of the one before still there.
    public var handsOver = false
    /// Whether the server's operator puts a backup in the place of what is there.
    public var restoresBackups = false
    /// How probable it is that a hook of the application decides otherwise than to go on.
    public var hookMishaps = 0.0
    /// Whether applications delete what they have just edited, and take the deletion back.
    public var reconsiders = false
    /// Whether a hook of the application changes what pulls bring.
    public var tidiesPages = false
    /// What the server does other than a good one would.
    public var habits: Set<SimulationHabit> = []
    /// What its OData service does otherwise than others, where the wire is one of OData's.
    public var service: Set<ServiceHabit> = []
    /// How notes depend on items: not, by the column that names the item, or as a table.
    public var dependency = SimulationDependency.none
    /// The faults that happen, with their probabilities.
    public var faults: [SimulationFault: Double] = [:]

    init() {}

    /// The properties that applications write.
    var fields: SimulatedFields { SimulatedFields(areTwins: habits.contains(.hasTwinNames)) }

    /// How the records' ids are written and compared.
    var ids: SimulatedIDs { SimulatedIDs(habits) }

    /// The id of a record that stories are about, by its number.
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
            "habits": JSON(habits.map(\.rawValue).sorted().map { JSON($0) }),
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
        // What came later is absent from older stories.
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
        habits = Set((json["habits"]?.elements ?? []).compactMap { $0.string.flatMap(SimulationHabit.init) })
        service = Set((json["service"]?.elements ?? []).compactMap { $0.string.flatMap(ServiceHabit.init) })
        for (name, value) in json["faults"]?.members ?? [] {
            if let fault = SimulationFault(rawValue: name.text), let value = value.double { faults[fault] = value }
        }
    }
}

/// How the notes of a story depend on its items.
public enum SimulationDependency: String, Sendable, Hashable, CaseIterable {
    /// They do not.
    case none
    /// Each on the item that its column `item` names.
    case column
    /// All on all.
    case table

    /// As the devices' contexts are told.
    var declared: [TableDependency] {
        switch self {
        case .none: []
        case .column: [TableDependency("notes", on: "items", by: "item")]
        case .table: [TableDependency("notes", on: "items")]
        }
    }
}
