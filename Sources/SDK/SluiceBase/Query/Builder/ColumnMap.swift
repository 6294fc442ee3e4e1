/// Which column each key path of a record type is.
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
/// A part of a property is stated with the way to it: `\.address.city: "address/city"`.
///
/// A key path that is not stated here cannot be queried: nothing is guessed from the property's name.
public struct ColumnMap<Record>: Sendable, ExpressibleByDictionaryLiteral {
    private let entries: [(path: any PartialKeyPath<Record> & Sendable, column: PropertyName)]

    /// A map of those key paths. If one is stated twice, the first counts.
    public init(dictionaryLiteral elements: (any PartialKeyPath<Record> & Sendable, PropertyName)...) {
        entries = elements.map { (path: $0.0, column: $0.1) }
    }

    /// The column's name; nil if none is stated for that key path.
    public subscript(path: AnyKeyPath) -> PropertyName? { entries.first { $0.path == path }?.column }
}

/// A type that states which columns its properties are, so that queries can be written with its key paths.
public protocol QueryableRecord {
    /// The columns; see ``ColumnMap``.
    static var columns: ColumnMap<Self> { get }
}

extension ColumnMap {
    /// The column's name.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` with the key path, if none is stated for it.
    package func name(of path: AnyKeyPath) throws(SluiceError) -> PropertyName {
        if let name = self[path] { return name }
        throw SluiceError(.invalidQuery, "\(Record.self).columns states no column for \(path)")
    }
}

extension PropertyName {
    /// The meaning of a column's name in a query: the property, or with slashes a part of one.
    package var operand: QueryExpression {
        let names = text.split(separator: "/", omittingEmptySubsequences: false).map { PropertyName(String($0)) }
        return names.count == 1 ? .column(self) : .path(QueryPath(.record, names.map { .property($0) }))
    }
}

extension Query {
    /// The query with a further key to sort by, after those given before: `\Person.name`.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` if the type states no column for the key path.
    public func sorted<Record: QueryableRecord>(
        by path: PartialKeyPath<Record>, descending: Bool = false
    ) throws(SluiceError) -> Query {
        var query = self
        query.order.append(.init(expression: try Record.columns.name(of: path).operand, descending: descending))
        return query
    }

    /// The query for these properties only, besides those given before.
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
