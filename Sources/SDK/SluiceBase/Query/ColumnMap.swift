/// The columns of a record type's key paths.
///
/// ```swift
/// struct Person: QueryableRecord {
///     var id: String
///     var name: String
///     var age: Int
///     static let columns: ColumnMap<Person> = [\.id: "id", \.name: "name", \.age: "age"]
/// }
/// ```
///
/// A part of a property is given by its path: `\.address.city: "address/city"`.
///
/// A key path without an entry cannot be queried: nothing is guessed from the property's name.
public struct ColumnMap<Record>: Sendable, ExpressibleByDictionaryLiteral {
    private let entries: [(path: any PartialKeyPath<Record> & Sendable, column: PropertyName)]

    /// Creates a map of those key paths. Of a repeated one, the first counts.
    public init(dictionaryLiteral elements: (any PartialKeyPath<Record> & Sendable, PropertyName)...) {
        entries = elements.map { (path: $0.0, column: $0.1) }
    }

    /// The column's name; nil if the key path has none.
    public subscript(path: AnyKeyPath) -> PropertyName? { entries.first { $0.path == path }?.column }
}

/// A type that declares the columns of its properties, so that queries can use its key paths.
public protocol QueryableRecord {
    /// The columns; see ``ColumnMap``.
    static var columns: ColumnMap<Self> { get }
}

extension ColumnMap {
    /// Returns the column's name.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` with the key path, if it has no column.
    package func name(of path: AnyKeyPath) throws(SluiceError) -> PropertyName {
        if let name = self[path] { return name }
        throw SluiceError(.invalidQuery, "\(Record.self).columns states no column for \(path)")
    }
}

extension PropertyName {
    /// The operand for a column's name in a query: the property, or with slashes a part of one.
    package var operand: QueryExpression {
        let names = text.split(separator: "/", omittingEmptySubsequences: false).map { PropertyName(String($0)) }
        return names.count == 1 ? .column(self) : .path(QueryPath(.record, names.map { .property($0) }))
    }
}

extension Query {
    /// Returns the query with a further key to sort by, after the present ones: `\Person.name`.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` if the type states no column for the key path.
    public func sorted<Record: QueryableRecord>(
        by path: PartialKeyPath<Record>, descending: Bool = false
    ) throws(SluiceError) -> Query {
        var query = self
        query.order.append(.init(expression: try Record.columns.name(of: path).operand, descending: descending))
        return query
    }

    /// Returns the query for these properties only, in addition to those already selected.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` if the type states no column for a key path.
    public func selecting<Record: QueryableRecord>(_ paths: PartialKeyPath<Record>...) throws(SluiceError) -> Query {
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
