internal import SluiceCore
internal import SluiceOData
internal import SluiceSQLite

/// The content of `settings` of `sluice_options`: each member is optional, and unknown ones are refused.
struct Settings: Sendable {
    private(set) var tables: [TableSchema] = []
    private(set) var store = SQLiteStore.Options()
    private(set) var retry = RetryPolicy()
    private(set) var odata = ODataMembers()
    private var localOnly = LocalOnly()
    private var dependencies: [TableDependency] = []
    private var numbers: [String: Int] = [:]

    private static let ranges: [(name: String, range: ClosedRange<Int>)] = [
        ("batch", 1...100), ("concurrency", 1...64), ("pageSize", 1...1_000_000), ("maximumAttempts", 1...1_000_000),
        ("leaseTimeout", 0...86_400_000), ("busyTimeout", 0...86_400_000), ("readers", 1...64), ("retries", 0...20),
    ]

    init(_ json: JSON) throws(SluiceError) {
        let members = try JSONPlace(json, in: "settings").members(
            Self.ranges.map(\.name) + ["tables", "durability", "dependencies", "odata"])
        for (name, range) in Self.ranges { numbers[name] = try members[name]?.integer(in: range) }
        if let durability = try members["durability"]?.choice(of: ["full", "normal"]) {
            store.durability = durability == "full" ? .full : .normal
        }
        if let busy = numbers["busyTimeout"] { store.busyTimeout = .milliseconds(busy) }
        if let readers = numbers["readers"] { store.readers = readers }
        if let retries = numbers["retries"] { retry.attempts = retries + 1 }
        if let place = members["odata"] { try odata.read(place) }
        for (name, place) in try members["tables"]?.entries(upTo: 1_000) ?? [] { try add(name, place) }
        for place in try members["dependencies"]?.elements(upTo: 1_000) ?? [] {
            let members = try place.members(["child", "column", "parent"])
            guard let child = try members["child"]?.text(), let parent = try members["parent"]?.text() else {
                throw place.expected("an object with child and parent")
            }
            dependencies.append(TableDependency(child, on: parent, by: try members["column"]?.text()))
        }
    }

    /// Writes the members that were set.
    func set(_ options: inout SyncOptions) {
        options.localOnly = localOnly
        options.dependencies = dependencies
        if let batch = numbers["batch"] { options.batchSize = batch }
        if let concurrency = numbers["concurrency"] { options.concurrency = concurrency }
        if let pageSize = numbers["pageSize"] { options.pageSize = pageSize }
        if let attempts = numbers["maximumAttempts"] { options.maximumAttempts = attempts }
        if let lease = numbers["leaseTimeout"] { options.leaseTimeout = .milliseconds(lease) }
    }

    private mutating func add(_ name: String, _ place: JSONPlace) throws(SluiceError) {
        let members = try place.members(["columns", "indexes", "local", "odata"])
        var table = TableSchema(name)
        for (column, place) in try members["columns"]?.entries(upTo: 1_000) ?? [] {
            let type = try place.choice(of: TableSchema.ColumnType.allCases.map(\.rawValue))
            table.columns.append(.init(PropertyName(column), TableSchema.ColumnType(rawValue: type) ?? .json))
        }
        for index in try members["indexes"]?.elements(upTo: 1_000) ?? [] {
            table.indexes.append(
                index.value.kind == .array ? try Self.names(index) : [PropertyName(try index.text())])
        }
        if let local = members["local"] {
            if local.value.kind == .array {
                localOnly.columns[name] = Set(try Self.names(local))
            } else if try local.flag() {
                localOnly.tables.insert(name)
            }
        }
        if let place = members["odata"] { try odata.read(place, of: name) }
        tables.append(table)
    }

    private static func names(_ place: JSONPlace) throws(SluiceError) -> [PropertyName] {
        var names: [PropertyName] = []
        for element in try place.elements(upTo: 1_000) { names.append(PropertyName(try element.text())) }
        return names
    }
}

/// Settings of an OData service that complement its metadata: the member `odata`, and those of tables.
struct ODataMembers: Sendable {
    private(set) var settings = ODataSettings()

    /// Reads the member `odata`.
    mutating func read(_ place: JSONPlace) throws(SluiceError) {
        let members = try place.members(["update", "tunnel", "batches", "remembersRequests"])
        if let update = try members["update"]?.choice(of: ODataSettings.Update.allCases.map(\.rawValue)) {
            settings.update = ODataSettings.Update(rawValue: update) ?? .merge
        }
        settings.tunnelsMethods = try members["tunnel"]?.flag() ?? false
        settings.remembersRequests = try members["remembersRequests"]?.flag() ?? false
        if let batches = try members["batches"]?.choice(of: ODataSettings.Batches.allCases.map(\.rawValue)) {
            settings.batches = ODataSettings.Batches(rawValue: batches) ?? .automatic
        }
    }

    /// Reads the member `odata` of a table.
    mutating func read(_ place: JSONPlace, of table: String) throws(SluiceError) {
        let members = try place.members(["updatedAt", "clientID", "assignsKey", "delta", "key"])
        var found = ODataSettings.Table()
        if let name = try members["updatedAt"]?.text() { found.updatedAt = PropertyName(name) }
        if let name = try members["clientID"]?.text() { found.clientID = PropertyName(name) }
        found.assignsKey = try members["assignsKey"]?.flag()
        found.tracksChanges = try members["delta"]?.flag() ?? true
        let types = EdmPrimitive.allCases.map { String($0.rawValue.dropFirst("Edm.".count)) }
        for (name, place) in try members["key"]?.entries(upTo: 100) ?? [] {
            guard let type = EdmPrimitive(rawValue: "Edm.\(try place.choice(of: types))") else { continue }
            found.key.append(.init(PropertyName(name), type))
        }
        settings.tables[table] = found
    }
}
