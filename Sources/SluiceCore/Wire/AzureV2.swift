extension Dialect {
    /// Azure Mobile Apps, and the servers that speak as it does: `ZUMO-API-VERSION` 2.0.0, OData v3 filters, system
    /// columns without a prefix that come unasked, updates by PATCH.
    public static let azureV2 = Dialect(name: "azure-v2", headers: [("ZUMO-API-VERSION", "2.0.0")])
}
