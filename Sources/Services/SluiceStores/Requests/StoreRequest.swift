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

/// A call of a function or an action of the service.
///
/// ```swift
/// let nearest = try await online.call(OperationCall("Nearest", ["count": 5]))
/// ```
public struct OperationCall: Sendable, Hashable {
    /// The name; with its namespace if the service requires it.
    public var name: String
    /// The arguments by their names.
    public var arguments: [PropertyName: JSON]
    /// Whether the call may change something: an action is sent by POST, a function by GET.
    public var isAction: Bool

    /// Creates a call.
    public init(_ name: String, _ arguments: [PropertyName: JSON] = [:], isAction: Bool = false) {
        self.name = name
        self.arguments = arguments
        self.isAction = isAction
    }
}

/// Options of a read.
public struct ReadOptions: Sendable, Hashable {
    /// The policy for a read that no defining request covers; nil for the store's and its mode's.
    public var uncovered: UncoveredPolicy?

    /// Creates options; each has a default.
    public init(uncovered: UncoveredPolicy? = nil) { self.uncovered = uncovered }
}

/// The policy for a read that the local store cannot answer completely when the service cannot be asked.
public enum UncoveredPolicy: String, Sendable, Hashable, CaseIterable {
    /// The read fails with `notCovered`, and the message names the missing defining request.
    case fail
    /// The local records are returned, marked as ``StoreResult/Source/localPartial``.
    case partial
}
