/// The columns of a record type's key paths.
///
/// A Codable type needs none: its columns come from its coding keys, parts of a property included
/// (`\.address.city`). A type that is decoded otherwise states them:
///
/// ```swift
/// struct Person: QueryableRecord {
///     var name: String
///     var age: Int
///     static let columns: ColumnMap<Person> = [\.name: "name", \.age: "age"]
/// }
/// ```
///
/// A part of a property is given by its path: `\.address.city: "address/city"`. A key path without an entry cannot be
/// queried.
public struct ColumnMap<Record>: Sendable, ExpressibleByDictionaryLiteral {
    private let entries: [(path: any PartialKeyPath<Record> & Sendable, column: PropertyName)]
    /// The shape of the type, where the columns come from it, or the reason for having none.
    private let shape: Result<RecordShape, SluiceError>?

    /// Creates a map of those key paths. Of a repeated one, the first counts.
    public init(dictionaryLiteral elements: (any PartialKeyPath<Record> & Sendable, PropertyName)...) {
        entries = elements.map { (path: $0.0, column: $0.1) }
        shape = nil
    }

    /// The columns by the type's own coding keys.
    fileprivate init() where Record: Decodable {
        entries = []
        shape = Result { () throws(SluiceError) in try RecordShape.of(Record.self) }
    }

    /// The column's name; nil if the key path has none.
    public subscript(path: AnyKeyPath) -> PropertyName? { column(of: [path]) }

    /// Returns the column's name for a key path, followed by those of parts of optionals; nil if they have none.
    package func column(of paths: [AnyKeyPath]) -> PropertyName? {
        if paths.count == 1, let entry = entries.first(where: { $0.path == paths[0] }) { return entry.column }
        guard let names = AnyKeyPath.propertyNames(of: paths) else { return nil }
        switch shape {
        case nil: return entries.first { AnyKeyPath.propertyNames(of: [$0.path]) == names }?.column
        case .success(let shape): return shape.column(named: names)
        case .failure: return nil
        }
    }
}

/// A type whose properties have columns, so that queries can use its key paths.
public protocol QueryableRecord {
    /// The columns; see ``ColumnMap``. By default those of the type's coding keys.
    static var columns: ColumnMap<Self> { get }
}

extension QueryableRecord where Self: Decodable {
    /// The columns of the type's coding keys.
    public static var columns: ColumnMap<Self> { ColumnMap() }
}

extension ColumnMap {
    /// Returns the column's name.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` with the key path, if it has no column.
    package func name(of path: AnyKeyPath) throws(SluiceError) -> PropertyName {
        if let name = self[path] { return name }
        throw refusal(of: [path])
    }

    /// Returns the error for a key path without a column, followed by those of parts of optionals.
    package func refusal(of paths: [AnyKeyPath]) -> SluiceError {
        let path =
            AnyKeyPath.propertyNames(of: paths).map { "\\\(Record.self).\($0.joined(separator: "."))" }
            ?? paths.map { "\($0)" }.joined()
        return switch shape {
        case nil: SluiceError(.invalidQuery, "\(Record.self).columns states no column for \(path)")
        case .success: SluiceError(.invalidQuery, "\(path) is no stored property with a coding key")
        case .failure(let error): error
        }
    }
}

extension PropertyName {
    /// The operand for a column's name in a query: the property, or with slashes a part of one.
    package var operand: QueryExpression {
        let steps = operandSteps
        return steps.count == 1 ? .column(self) : .path(TableQuery.Path(.record, steps))
    }

    /// The steps from the record to a column's value.
    package var operandSteps: [TableQuery.Path.Step] {
        text.split(separator: "/", omittingEmptySubsequences: false).map { .property(PropertyName(String($0))) }
    }
}

extension TableQuery {
    /// Returns the query with a further key to sort by, after the present ones: `\Person.name`.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` if the type states no column for the key path.
    public func sorted<Record: QueryableRecord>(
        by path: PartialKeyPath<Record>, descending: Bool = false
    ) throws(SluiceError) -> TableQuery {
        var query = self
        query.order.append(.init(expression: try Record.columns.name(of: path).operand, descending: descending))
        return query
    }

    /// Returns the query for these properties only, in addition to those already selected.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` if the type states no column for a key path.
    public func selecting<Record: QueryableRecord>(_ paths: PartialKeyPath<Record>...) throws(SluiceError) -> TableQuery
    {
        var query = self
        for path in paths {
            let name = try Record.columns.name(of: path)
            guard case .column = name.operand else {
                throw SluiceError(.invalidQuery, "a part of a property cannot be selected: \(name)")
            }
            query.select.append(name)
        }
        return query
    }
}
