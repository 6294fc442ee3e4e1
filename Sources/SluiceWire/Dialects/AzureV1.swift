internal import SluiceBase

extension Dialect {
    /// Azure Mobile Services (2012 to 2015).
    ///
    /// No version marks a request; the application's key does. System columns begin with two underscores and come back
    /// only when asked for with `__systemProperties`. Ids are texts, or integers in older tables. A list is an array,
    /// or `{"results": […], "count": N}` where a count was asked for; no server links the next page. Updates
    /// are PATCH, deleted records come back by `POST /tables/T/id`, filters are OData v3.
    public static let azureV1 = Dialect(
        name: "azure-v1",
        columns: RowPage.SystemColumns(version: "__version", updatedAt: "__updatedAt", deleted: "__deleted"),
        createdAtColumn: "__createdAt", asksForSystemProperties: true, allowsIntegerIDs: true,
        sendsApplicationKey: true, reportsFeatures: true, linksPages: false)
}
