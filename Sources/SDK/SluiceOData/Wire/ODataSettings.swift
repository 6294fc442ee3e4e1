public import SluiceBase

/// Settings for properties of a service that its metadata does not describe. Most services need none.
public struct ODataSettings: Sendable {
    /// The method of changing a row.
    public enum Update: String, Sendable, CaseIterable {
        /// Sends the changed properties: `MERGE` in v2 and `PATCH` in v4, and in v2 `PATCH` if the service does not
        /// accept `MERGE`.
        case merge
        /// Sends the whole row: `PUT`. Properties that the row lacks are lost on the service.
        case put
    }

    /// The format of changes that are sent together: those of a group, and all if the context's options have a batch
    /// size.
    public enum Batches: String, Sendable, CaseIterable {
        /// Multipart in v2. In v4 JSON, and multipart if the service does not accept that.
        case automatic
        /// `multipart/mixed`.
        case multipart
        /// JSON, which only v4.01 has.
        case json
        /// None: the service accepts no batches, so no groups can be pushed to it.
        case off
    }

    /// The settings of one entity set.
    public struct Table: Sendable {
        /// The property with the time of a row's last change. With it, changes are followed by time if the service
        /// issues no delta links; without it, all rows are read then.
        public var updatedAt: PropertyName?
        /// A text property with the id of a row that was created here, if the service assigns the key. It becomes the
        /// record's id on all devices, and finds a row whose creation was not answered.
        public var clientID: PropertyName?
        /// Whether the service assigns the keys of new rows; nil to follow the metadata.
        public var assignsKey: Bool?
        /// Names and types of the key's properties, if the service has no metadata.
        public var key: [EntitySet.Property]
        /// Whether to request delta links from the service. Default true.
        public var tracksChanges = true

        /// Creates the settings of a set.
        public init(
            updatedAt: PropertyName? = nil, clientID: PropertyName? = nil, assignsKey: Bool? = nil,
            key: [EntitySet.Property] = []
        ) {
            self.updatedAt = updatedAt
            self.clientID = clientID
            self.assignsKey = assignsKey
            self.key = key
        }
    }

    /// The settings of sets, by the set's name.
    public var tables: [String: Table]
    /// The method of changing rows.
    public var update: Update
    /// Whether `MERGE`, `PATCH`, `PUT` and `DELETE` are sent as `POST` with `X-HTTP-Method`, for networks that block
    /// other methods.
    public var tunnelsMethods: Bool
    /// The format of changes that are sent together.
    public var batches: Batches
    /// Whether the service remembers the ids of requests (OASIS Repeatable Requests), so that a repeated request takes
    /// effect once. Default false: then it is assumed only while the service's answers show it.
    public var remembersRequests: Bool

    /// Creates settings.
    public init(
        tables: [String: Table] = [:], update: Update = .merge, tunnelsMethods: Bool = false,
        batches: Batches = .automatic, remembersRequests: Bool = false
    ) {
        self.remembersRequests = remembersRequests
        self.tables = tables
        self.update = update
        self.tunnelsMethods = tunnelsMethods
        self.batches = batches
    }
}

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
