internal import Sluice
internal import SluiceConfiguration

/// What `sync.yaml` says of an OData service, for what its metadata does not say.
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
enum ODataConfiguration {
    static func settings(_ node: ConfigurationNode?) throws -> ODataSettings {
        var settings = ODataSettings()
        guard let members = try node?.members(["update", "tunnel", "batches", "remembers-requests"]) else {
            return settings
        }
        if let update = try members["update"]?.choice(of: ODataSettings.Update.allCases.map(\.rawValue)) {
            settings.update = ODataSettings.Update(rawValue: update) ?? .merge
        }
        settings.tunnelsMethods = try members["tunnel"]?.flag() ?? false
        settings.remembersRequests = try members["remembers-requests"]?.flag() ?? false
        if let batches = try members["batches"]?.choice(of: ODataSettings.Batches.allCases.map(\.rawValue)) {
            settings.batches = ODataSettings.Batches(rawValue: batches) ?? .automatic
        }
        return settings
    }

    static func table(_ node: ConfigurationNode) throws -> ODataSettings.Table {
        let members = try node.members(["updated-at", "client-id", "assigns-key", "delta", "key"])
        var table = ODataSettings.Table()
        table.updatedAt = try members["updated-at"].map { PropertyName(try $0.text()) }
        table.clientID = try members["client-id"].map { PropertyName(try $0.text()) }
        table.assignsKey = try members["assigns-key"]?.flag()
        table.tracksChanges = try members["delta"]?.flag() ?? true
        let types = EdmPrimitive.allCases.map { String($0.rawValue.dropFirst("Edm.".count)) }
        table.key =
            try members["key"]?.entries().compactMap { name, _, node in
                EdmPrimitive(rawValue: "Edm.\(try node.choice(of: types))").map { .init(PropertyName(name), $0) }
            } ?? []
        return table
    }
}
