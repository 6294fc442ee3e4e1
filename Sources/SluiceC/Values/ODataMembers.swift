internal import SluiceCore
internal import SluiceOData

/// What `settings` says of an OData service, for what its metadata does not say: the member `odata`, and those of tables.
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
