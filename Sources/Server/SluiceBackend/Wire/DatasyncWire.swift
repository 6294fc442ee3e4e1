internal import HTTPTypes

extension ServerWire {
    /// The Datasync Community Toolkit, versions 8 to 10: no version header, only PUT for changes, links without a path.
    static let datasync = ServerWire(
        name: "datasync", names: SystemNames(hidden: [SystemColumn.createdAt]), reserved: .ignored,
        refusesUnknownColumns: true, patches: false, undelete: .put, tombstone: .gone,
        list: .items(writesNulls: true), nextPage: .query, failure: .text, requiresContentType: true)
}
