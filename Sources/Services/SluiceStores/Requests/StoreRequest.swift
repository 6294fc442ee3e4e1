public import SluiceBase
internal import SluiceWire

/// A read of a store: of a table, a record, a record's linked records, a property, a number, or a function's result.
///
/// ```swift
/// let request = try StoreRequest(odata: "Agencies?$filter=Country eq 'US'&$orderby=Name")
/// let orders = try StoreRequest(odata: "Customers('1')/Orders")
/// let query = StoreRequest(TableQuery("Agencies").where(column("Country") == "US"))
/// ```
public struct StoreRequest: Sendable, Hashable {
    /// The target of the read.
    public var path: ResourcePath
    /// The query options: `$filter`, `$select`, `$expand`, `$orderby` and the others.
    public var options: ODataOptions

    /// Creates a read of the path's target.
    public init(_ path: ResourcePath, _ options: ODataOptions = ODataOptions()) {
        self.path = path
        self.options = options
    }

    /// Creates a read of a table.
    public init(_ table: String, _ options: ODataOptions = ODataOptions()) {
        self.init(ResourcePath(table), options)
    }

    /// Creates a read of one record.
    public init(_ table: String, key: some RecordIDConvertible, _ options: ODataOptions = ODataOptions()) {
        self.init(ResourcePath(table, key: key), options)
    }

    /// Creates the read for a query.
    public init(_ query: TableQuery) {
        var options = ODataOptions()
        options.filter = query.filter
        options.order = query.order
        options.skip = query.skip == 0 ? nil : query.skip
        options.top = query.top
        options.select = query.select.map { ODataOptions.SelectItem($0) }
        options.count = query.includesCount ? true : nil
        let parameters = query.parameters
            .map { "\(PercentEncoding.query($0.name))=\(PercentEncoding.query($0.value))" }.joined(separator: "&")
        options.custom = (try? ODataOptions(parameters))?.custom ?? []
        self.init(query.table, options)
    }

    /// Reads an address: relative to the service's root (`Customers('1')/Orders?$top=5`), or a complete one below
    /// `service` (`https://example.net/odata/Customers('1')/Orders`). Both mean the same.
    ///
    /// - Parameters:
    ///   - address: the address.
    ///   - service: the service of complete addresses; nil to accept relative ones only.
    /// - Throws: ``SluiceError`` of code `invalidQuery` for an unreadable address, with the place in
    ///   ``SluiceError/cause``; `invalidArgument` for an address of another service.
    public init(odata address: String, service: ServiceRoot? = nil) throws(SluiceError) {
        let reader = try ResourcePathReader(try ServiceRoot.relative(address, to: service))
        do throws(TableQuery.SyntaxError) {
            self.init(reader.path, try ODataOptions(reader.query))
        } catch {
            throw SluiceError(
                error.isUnsupported ? .unsupported : .invalidQuery, "the address's options cannot be read: \(error)",
                cause: error)
        }
    }
}
