public import SluiceCore

extension BackendConfiguration {
    /// How the tables are served as OData, v4 below `/odata/v4/` and v2 below `/odata/v2/`.
    ///
    /// ```swift
    /// var odata = BackendConfiguration.OData(namespace: "Shop")
    /// odata.requiresIfMatch = true
    /// configuration.odata = odata
    /// ```
    public struct OData: Sendable, Hashable {
        /// The namespace of the types in `$metadata`: names with dots between them.
        public var namespace: String
        /// Whether a change of an entity needs `If-Match`; without it the answer is 428. Many clients never send it.
        public var requiresIfMatch: Bool
        /// Whether a change needs the token that a read with `X-CSRF-Token: Fetch` gives, and the cookie that came with
        /// it; without both the answer is 403 with `X-CSRF-Token: Required`. Use it where browsers send credentials by
        /// themselves.
        public var requiresCSRFToken: Bool
        /// The origins whose pages a browser lets use the service (CORS): `https://app.example`, or `*` for all, which then send
        /// no cookies.
        public var origins: [String] = []

        /// OData with those rules.
        public init(namespace: String = "Sluice", requiresIfMatch: Bool = false, requiresCSRFToken: Bool = false) {
            self.namespace = namespace
            self.requiresIfMatch = requiresIfMatch
            self.requiresCSRFToken = requiresCSRFToken
        }
    }
}

extension BackendConfiguration.Table {
    /// A reference of a table's records to those of another, which OData clients navigate by.
    ///
    /// ```swift
    /// orders.references = [.init("customer", column: "customerId", table: "customers", inverse: "orders")]
    /// ```
    public struct Reference: Sendable, Hashable {
        /// What the record that is referred to is called on this table's records.
        public var name: PropertyName
        /// The column that holds the id of the other record, or null.
        public var column: PropertyName
        /// The table of the other record.
        public var table: String
        /// What the records that refer to it are called on the other record; nil where it does not list them.
        public var inverse: PropertyName?

        /// A reference.
        public init(_ name: PropertyName, column: PropertyName, table: String, inverse: PropertyName? = nil) {
            self.name = name
            self.column = column
            self.table = table
            self.inverse = inverse
        }
    }
}
