internal import HTTPTypes

extension ServerWire {
    /// Tables as OData v2 sees them: the version is the entity tag, tombstones are not there, and every property has
    /// been declared.
    static let odataV2 = odata("odata-v2", refusesUnknownColumns: true)

    /// Tables as OData v4 sees them: as v2 does, with properties that nobody declared.
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
