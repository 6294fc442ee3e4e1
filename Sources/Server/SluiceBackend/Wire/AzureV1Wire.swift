internal import HTTPTypes

extension ServerWire {
    /// Azure Mobile Services: system columns begin with two underscores and are sent only on request.
    static let azureV1 = ServerWire(
        name: "azure-v1", names: SystemNames(prefix: "__"), givesSystemColumnsOnRequest: true, showsIntegerIDs: true,
        reserved: .refused,
        refusesUnknownColumns: false, patches: true, undelete: .post, tombstone: .notFound, list: .array,
        nextPage: .link, failure: .object, requiresContentType: false)
}
