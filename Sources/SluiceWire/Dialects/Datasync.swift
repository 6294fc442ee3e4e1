internal import SluiceBase

extension Dialect {
    /// CommunityToolkit.Datasync 8 and later (from 2024).
    ///
    /// As ``azureV3``, but no version marks a request, the link to the next page is a query alone,
    /// and a deleted record comes back by PUT of the record whole with `"deleted": false`.
    public static let datasync = Dialect(
        name: "datasync", createdAtColumn: nil, patchesUpdates: false,
        undelete: .put, includeDeleted: ("__includedeleted", "true"), includeCount: ("$count", "true"), odata: .v4,
        keptInQueries: "", agent: .datasync)
}
