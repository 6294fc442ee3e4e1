internal import Logging
internal import SluiceCore
internal import SluiceHTTP
internal import SluiceOData
internal import SluiceSQLite

/// The content of `settings` of `sluice_options`: each member is optional, and unknown ones are refused.
struct Settings: Sendable {
    private(set) var tables: [TableSchema] = []
    private(set) var store = SQLiteStore.Options()
    private(set) var retry = RetryPolicy()
    private(set) var odata = ODataSettingsReader()
    private(set) var proxy = ProxySettings.environment
    private var localOnly = LocalOnly()
    private var dependencies: [TableDependency] = []
    private var numbers: [String: Int] = [:]

    private static let ranges: [(name: String, range: ClosedRange<Int>)] = [
        ("batch", 1...100), ("concurrency", 1...64), ("pageSize", 1...1_000_000), ("maximumAttempts", 1...1_000_000),
        ("leaseTimeout", 0...86_400_000), ("busyTimeout", 0...86_400_000), ("readers", 1...64), ("retries", 0...20),
    ]

    init(_ json: JSON) throws(SluiceError) {
        let members = try JSONPlace(json, in: "settings").members(
            Self.ranges.map(\.name) + ["tables", "durability", "dependencies", "odata", "proxy", "noProxy"])
        for (name, range) in Self.ranges { numbers[name] = try members[name]?.integer(in: range) }
        if let durability = try members["durability"]?.choice(of: ["full", "normal"]) {
            store.durability = durability == "full" ? .full : .normal
        }
        if let busy = numbers["busyTimeout"] { store.busyTimeout = .milliseconds(busy) }
        if let readers = numbers["readers"] { store.readers = readers }
        if let retries = numbers["retries"] { retry.attempts = retries + 1 }
        if let place = members["odata"] { try odata.read(place) }
        try readProxy(members["proxy"], members["noProxy"])
        for (name, place) in try members["tables"]?.entries(upTo: 1_000) ?? [] { try add(name, place) }
        for place in try members["dependencies"]?.items(upTo: 1_000) ?? [] {
            let members = try place.members(["child", "column", "parent"])
            guard let child = try members["child"]?.text(), let parent = try members["parent"]?.text() else {
                throw place.expected("an object with child and parent")
            }
            dependencies.append(TableDependency(child, on: parent, by: try members["column"]?.text()))
        }
    }

    /// Reads the proxy: its address, with `name:password@` where it asks for credentials, or `none`.
    private mutating func readProxy(_ address: JSONPlace?, _ exceptions: JSONPlace?) throws(SluiceError) {
        guard let text = try address?.text() else { return }
        if text == "none" {
            proxy = .none
            return
        }
        var names: [String] = []
        for place in try exceptions?.items(upTo: 1_000) ?? [] { names.append(try place.text()) }
        proxy = ProxySettings(text, exceptions: names)
        try proxy.validate()
    }

    /// Writes the members that were set, and logs the warnings of former names.
    func set(_ options: inout SyncOptions) {
        for warning in odata.warnings { options.logger.warning("\(warning)") }
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
        if let local = members["local"] { try localOnly.read(local, of: name) }
        if let place = members["odata"] { try odata.read(place, of: name) }
        tables.append(try TableSchema(name, members))
    }
}
