extension Dialect {
    /// Azure Mobile Services: system columns begin with two underscores and come back only when asked for.
    package static let azureV1 = Dialect(
        name: "azure-v1",
        columns: RowPage.SystemColumns(version: "__version", updatedAt: "__updatedAt", deleted: "__deleted"),
        createdAtColumn: "__createdAt", asksForSystemProperties: true)
}
