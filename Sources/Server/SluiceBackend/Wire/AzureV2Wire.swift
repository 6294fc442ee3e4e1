internal import HTTPTypes

extension ServerWire {
    /// Azure Mobile Apps, `ZUMO-API-VERSION` 2.0: with the answers of the Node and .NET servers.
    static let azureV2 = ServerWire(
        name: "azure-v2", names: SystemNames(), showsIntegerIDs: true, reserved: .refused, refusesUnknownColumns: false,
        patches: true,
        undelete: .post, tombstone: .notFound, list: .array, nextPage: .link, failure: .object,
        requiresContentType: false, comparesVersionInBody: true, isLenient: true, showsKnownProperties: true)
}
