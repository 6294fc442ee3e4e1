public import SluiceBase

/// What the client has to know of a service that its metadata does not say. Most services need none of it.
public struct ODataSettings: Sendable {
    /// How a row is changed.
    public enum Update: String, Sendable, CaseIterable {
        /// The properties that changed: `MERGE` in v2 and `PATCH` in v4, and in v2 `PATCH` where the service does not take
        /// `MERGE`.
        case merge
        /// The row whole: `PUT`. What the row does not have is lost on the service.
        case put
    }

    /// How changes go that are sent together: those of a group, and all where the options of a context have a batch size.
    public enum Batches: String, Sendable, CaseIterable {
        /// Multipart in v2. In v4 JSON, and multipart where the service does not take that.
        case automatic
        /// `multipart/mixed`.
        case multipart
        /// JSON, which v4.01 alone has.
        case json
        /// None: the service takes no batches, so no groups can be pushed to it.
        case off
    }

    /// What one entity set needs.
    public struct Table: Sendable {
        /// The property that says when a row was last changed. With it changes are followed by time where the service
        /// issues no delta links; without it all rows are read then.
        public var updatedAt: PropertyName?
        /// A text property in which a row that was made here keeps its id, where the service assigns the key. It becomes
        /// the record's id on all devices, and finds a row whose creation was not answered.
        public var clientID: PropertyName?
        /// Whether the service assigns the keys of new rows; nil takes the metadata's word for it.
        public var assignsKey: Bool?
        /// Names and types of the key's properties, where the service has no metadata.
        public var key: [EntitySet.Property]
        /// Whether the service may be asked for delta links. Default true.
        public var tracksChanges = true

        /// The settings of a set.
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
    /// How rows are changed.
    public var update: Update
    /// Whether `MERGE`, `PATCH`, `PUT` and `DELETE` go as `POST` with `X-HTTP-Method`, for networks that pass nothing else.
    public var tunnelsMethods: Bool
    /// How changes that are sent together go.
    public var batches: Batches
    /// Whether the service remembers the ids of requests (OASIS Repeatable Requests), so that one which is sent twice takes
    /// effect once. Default false: it is believed of a service only while its answers say so.
    public var remembersRequests: Bool

    /// Settings.
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
