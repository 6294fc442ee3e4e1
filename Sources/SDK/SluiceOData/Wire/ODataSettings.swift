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
