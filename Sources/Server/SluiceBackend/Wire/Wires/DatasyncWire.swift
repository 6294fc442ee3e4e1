internal import HTTPTypes

extension ServerWire {
    /// The Datasync Community Toolkit, versions 8 to 10: no version header, PUT alone, links that are queries.
    static let datasync = ServerWire(
        name: "datasync", names: SystemNames(hidden: [SystemColumn.createdAt]), reserved: .ignored,
        refusesUnknownColumns: true, patches: false, undelete: .put, tombstone: .gone,
        list: .items(writesNulls: true), nextPage: .query, failure: .text, requiresContentType: true)
}
