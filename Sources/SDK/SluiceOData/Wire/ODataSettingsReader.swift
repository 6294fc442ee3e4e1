package import SluiceBase

/// The OData settings of a configuration, which complete a service's metadata.
///
/// ```yaml
/// odata:
///   update: merge                 # or put, which sends rows whole
///   tunnel: false                 # changes as POST with X-HTTP-Method, for networks that pass nothing else
///   batches: automatic            # or multipart, json, off
///   remembers-requests: false     # whether it tells repeats by the request's id (Repeatable Requests)
/// tables:
///   Orders:
///     odata:
///       updated-at: ChangedAt     # changes are followed by it where there are no delta links
///       client-id: ExternalRef    # holds the id of a row that was made here, where the service assigns keys
///       assigns-key: true         # else as the metadata says
///       delta: true               # false never asks for delta links
///       key: { Number: String }   # of a service without metadata
/// ```
package struct ODataSettingsReader: Sendable {
    /// The settings read so far.
    package private(set) var settings = ODataSettings()
    /// The warnings of former names, each with its place.
    package private(set) var warnings: [String] = []

    /// The former name of each renamed member, accepted with a warning until the next version.
    private static let formerNames = [
        "remembers-requests": "remembersRequests", "updated-at": "updatedAt", "client-id": "clientID",
        "assigns-key": "assignsKey",
    ]

    /// Creates a reader without settings.
    package init() {}

    /// Reads the settings of the service.
    package mutating func read(_ place: StrictValue<some StrictSource>) throws(SluiceError) {
        let members = try members(of: place, ["update", "tunnel", "batches", "remembers-requests"])
        if let update = members["update"] { settings.update = try update.choice(ODataSettings.Update.self) }
        if let batches = members["batches"] { settings.batches = try batches.choice(ODataSettings.Batches.self) }
        settings.tunnelsMethods = try members["tunnel"]?.flag() ?? false
        settings.remembersRequests = try members["remembers-requests"]?.flag() ?? false
    }

    /// Reads the settings of a table.
    package mutating func read(_ place: StrictValue<some StrictSource>, of name: String) throws(SluiceError) {
        let members = try members(of: place, ["updated-at", "client-id", "assigns-key", "delta", "key"])
        var table = ODataSettings.Table()
        if let column = try members["updated-at"]?.text() { table.updatedAt = PropertyName(column) }
        if let column = try members["client-id"]?.text() { table.clientID = PropertyName(column) }
        table.assignsKey = try members["assigns-key"]?.flag()
        table.tracksChanges = try members["delta"]?.flag() ?? true
        let types = EdmPrimitive.allCases.map { String($0.rawValue.dropFirst("Edm.".count)) }
        for (column, place) in try members["key"]?.entries() ?? [] {
            guard let type = EdmPrimitive(rawValue: "Edm.\(try place.choice(of: types))") else { continue }
            table.key.append(.init(PropertyName(column), type))
        }
        settings.tables[name] = table
    }

    /// Returns the members by their present names, and notes a warning for each former one.
    private mutating func members<Source>(
        of place: StrictValue<Source>, _ known: [String]
    ) throws(SluiceError) -> [String: StrictValue<Source>] {
        let names = Set(try place.entries().map(\.name))
        let former = known.compactMap { name in Self.formerNames[name].map { (name, $0) } }
            .filter { names.contains($1) }
        var members = try place.members(known + former.map(\.1))
        for (name, formerName) in former {
            guard let value = members.removeValue(forKey: formerName) else { continue }
            guard members[name] == nil else {
                throw value.key.refusal("\(formerName) is the former name of \(name), which is set too")
            }
            members[name] = value
            warnings.append(
                "\(value.key.location): \(formerName) is called \(name) now; the next version refuses the old name")
        }
        return members
    }
}
