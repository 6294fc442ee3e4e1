internal import HTTPTypes

extension ServerWire {
    /// Tables in OData v2: the version is the entity tag, tombstones are hidden, and every property is declared.
    static let odataV2 = odata("odata-v2", refusesUnknownColumns: true)

    /// Tables in OData v4: as in v2, but with undeclared properties.
    static let odataV4 = odata("odata-v4", refusesUnknownColumns: false)

    private static func odata(_ name: String, refusesUnknownColumns: Bool) -> ServerWire {
        ServerWire(
            name: name, names: SystemNames(hidden: [SystemColumn.version, SystemColumn.deleted]), showsIntegerIDs: true,
            reserved: .ignored, refusesUnknownColumns: refusesUnknownColumns, patches: true, undelete: .post,
            tombstone: .notFound, list: .items(writesNulls: false), nextPage: .query, failure: .object,
            requiresContentType: false, isLenient: true, showsKnownProperties: true, timeDigits: 7,
            insertsOverTombstones: true)
    }
}
