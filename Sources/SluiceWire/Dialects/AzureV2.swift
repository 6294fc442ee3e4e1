extension Dialect {
    /// Azure Mobile Apps (2015 to 2020), and the servers that speak as it does.
    ///
    /// `ZUMO-API-VERSION` is 2.0.0. System columns have no prefix and come unasked. Ids are texts, or integers in
    /// tables that were made before, which can be used online alone. A list is an array, or
    /// `{"results": […], "count": N}` where a count was asked for; a `Link` header has the next page's address, but
    /// only where more rows were asked for than make a page: without one the list may go on. Updates are PATCH, deleted
    /// records come back by `POST /tables/T/id`, filters are OData v3.
    public static let azureV2 = Dialect(
        name: "azure-v2", headers: [("ZUMO-API-VERSION", "2.0.0")], allowsIntegerIDs: true, reportsFeatures: true,
        linksPages: false)
}
