public import SluiceCore
internal import SluiceOData

/// The server's own code that OData clients call by name: a function, which changes nothing, or an action.
///
/// ```swift
/// let longest = ODataOperation.function("Longest", [.init("count", .integer)], returns: .records(table: "movies")) { call in
///     var query = TableQuery("movies", order: [.init("duration", descending: true)])
///     query.top = Int(exactly: call["count"]?.int ?? 3)
///     return JSON(try await call.records(matching: query))
/// }
/// let backend = try await Backend(configuration, operations: [longest])
/// // GET /odata/v4/Longest(count=5), and in v2 GET /odata/v2/Longest?count=5
/// ```
public struct ODataOperation: Sendable {
    /// The declaration of a parameter; null in a call without it.
    public struct Parameter: Sendable, Hashable {
        /// The name: letters, digits and `_`, beginning with a letter.
        public var name: String
        /// The type of its values; `json` is a text with JSON in it.
        public var type: TableSchema.ColumnType

        /// Creates a parameter.
        public init(_ name: String, _ type: TableSchema.ColumnType) {
            self.name = name
            self.type = type
        }
    }

    /// The result of a call.
    public enum Result: Sendable, Hashable {
        /// No result: 204.
        case nothing
        /// A value.
        case value(TableSchema.ColumnType)
        /// An array of values.
        case values(TableSchema.ColumnType)
        /// A record of a table, or null.
        case record(table: String)
        /// An array of records of a table.
        case records(table: String)
    }

    /// The name in addresses.
    public let name: String
    /// Whether it is called by GET and changes nothing; otherwise it is called by POST.
    public let isFunction: Bool
    /// The parameters.
    public let parameters: [Parameter]
    /// The result of a call.
    public let result: Result
    /// The access level of its callers.
    public let access: TableAccess.Level
    let body: @Sendable (ODataCall) async throws -> JSON

    /// Creates a function: called by GET, it changes nothing. By default everyone may call it.
    public static func function(
        _ name: String, _ parameters: [Parameter] = [], returns result: Result, access: TableAccess.Level = .anonymous,
        _ body: @escaping @Sendable (ODataCall) async throws -> JSON
    ) -> ODataOperation {
        ODataOperation(
            name: name, isFunction: true, parameters: parameters, result: result, access: access, body: body)
    }

    /// Creates an action: called by POST, it may change anything. By default it needs a user.
    public static func action(
        _ name: String, _ parameters: [Parameter] = [], returns result: Result = .nothing,
        access: TableAccess.Level = .authenticated, _ body: @escaping @Sendable (ODataCall) async throws -> JSON
    ) -> ODataOperation {
        ODataOperation(
            name: name, isFunction: false, parameters: parameters, result: result, access: access, body: body)
    }
}

/// One call of an ``ODataOperation``.
public struct ODataCall: Sendable {
    /// The user of the call; nil without a token.
    public let principal: Principal?
    /// The given values of the parameters.
    public let arguments: [String: JSON]
    private let reading: @Sendable (TableQuery) async throws -> [JSON]

    init(
        principal: Principal?, arguments: [String: JSON],
        _ reading: @escaping @Sendable (TableQuery) async throws -> [JSON]
    ) {
        self.principal = principal
        self.arguments = arguments
        self.reading = reading
    }

    /// Returns the value of a parameter; nil if the call does not give it.
    public subscript(name: String) -> JSON? { arguments[name] }

    /// Returns records within the caller's scope, with the table's rules and hooks, at most a page of the table.
    ///
    /// - Throws: ``HookRefusal`` if the caller may not read the table, ``SluiceError`` for an unknown table and a
    ///   failing database.
    public func records(matching query: TableQuery) async throws -> [JSON] { try await reading(query) }
}

extension ODataOperation.Result {
    /// The table of the records.
    var table: String? {
        switch self {
        case .record(let table), .records(let table): table
        case .nothing, .value, .values: nil
        }
    }

    /// The type in the form of `$metadata`; nil for no result.
    func type(in model: ServiceModel) -> String? {
        switch self {
        case .nothing: nil
        case .value(let type): type.edm.rawValue
        case .values(let type): "Collection(\(type.edm.rawValue))"
        case .record(let table): "\(model.namespace).\(ServiceModel.identifier(table))"
        case .records(let table): "Collection(\(model.namespace).\(ServiceModel.identifier(table)))"
        }
    }
}

extension TableSchema.ColumnType {
    /// The type for OData clients.
    var edm: EdmPrimitive {
        switch self {
        case .string, .json: .string
        case .integer: .int64
        case .real: .double
        case .boolean: .boolean
        case .date: .dateTimeOffset
        }
    }
}
