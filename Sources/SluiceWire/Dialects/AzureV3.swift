internal import SluiceBase

extension Dialect {
    /// Microsoft.Datasync 5 and 6 (2021 to 2024).
    ///
    /// `ZUMO-API-VERSION` is 3.0.0. There is no `createdAt`. A list is `{"items": […], "count": N, "nextLink": "…"}`,
    /// the link a whole address. Updates are PUT with the record whole, deleted records come back by PATCH with
    /// `{"deleted": false}`, filters are OData v4, with every
    /// character percent-encoded that is not unreserved.
    public static let azureV3 = Dialect(
        name: "azure-v3", headers: [("ZUMO-API-VERSION", "3.0.0")], createdAtColumn: nil, patchesUpdates: false,
        undelete: .patch, includeDeleted: ("__includedeleted", "true"), includeCount: ("$count", "true"), odata: .v4,
        keptInQueries: "", agent: .datasync)
}
