internal import HTTPTypes

extension ServerWire {
    /// Azure Mobile Apps 5 and 6, `ZUMO-API-VERSION` 3.0: no `createdAt`, pages with an absolute link.
    static let azureV3 = ServerWire(
        name: "azure-v3", names: SystemNames(hidden: [SystemColumn.createdAt]), reserved: .ignored,
        refusesUnknownColumns: true, patches: true, undelete: .patch, tombstone: .gone,
        list: .items(writesNulls: false), nextPage: .absolute, failure: .problem, requiresContentType: true,
        isLenient: true, showsKnownProperties: true)
}
