public import SluiceBase

/// A Codable type that knows the table of its records.
///
/// ```swift
/// struct Person: SyncRecord {
///     static let tableName = "people"
///     var id: String?
///     var name: String
///     var version: String?
///     var updatedAt: Timestamp?
/// }
/// let people = client.table(Person.self)
/// ```
///
/// **System properties** are the ones with the coding key `createdAt`, `updatedAt`, `version` or `deleted`, on every
/// wire. The table converts each to and from the wire's own name (`__version` in Mobile Services). A type that needs
/// another name in Swift declares it by its coding keys: `case etag = "version"`. Declare the ones that you need as
/// optionals, because a record that was never sent has none. A Mobile Services backend is asked only for the declared
/// ones. A record without `version` is changed without a condition.
///
/// **A property that is newer than the rows** takes its value from ``defaults`` if a record lacks it; a type declares
/// `static let defaults: Person? = Person(name: "", level: 1)`. Without defaults a missing list, set or dictionary is
/// empty, and a record that lacks any other property does not fit the type.
///
/// **Its table in the local store** is `TableSchema(Person.self)`: the columns come from the coding keys and the types of
/// the properties, `indexes` and `references` from the static members. Queries use the key paths of the same properties.
///
/// A type need not conform: `client.table("people", of: Person.self)` accepts any that is `Codable & Sendable`.
public protocol SyncRecord: QueryableRecord, Codable, Sendable {
    /// The table's name.
    static var tableName: String { get }
    /// A record with the default values of missing properties, except for its id; nil, the default, for none.
    static var defaults: Self? { get }
    /// The columns to index in the local store, each list one index; none by default.
    static var indexes: [[PropertyName]] { get }
    /// The navigation properties; none by default.
    static var references: [TableSchema.Reference] { get }
}

extension SyncRecord {
    /// No defaults.
    public static var defaults: Self? { nil }
    /// No indexes.
    public static var indexes: [[PropertyName]] { [] }
    /// No navigation properties.
    public static var references: [TableSchema.Reference] { [] }
}

extension TableSchema {
    /// The table of a record type: its name, the columns of its coding keys, its indexes and references.
    ///
    /// ```swift
    /// let context = try await SyncContext(client: client, store: store, tables: [TableSchema(Todo.self)])
    /// ```
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a type that cannot be decoded from samples, for
    ///   example because of an enumeration that is not `CaseIterable`.
    public init<Record: SyncRecord>(_ type: Record.Type) throws(SluiceError) {
        let own = Set(SystemProperty.allCases.map { PropertyName($0.rawValue) }).union(["id"])
        let columns = try RecordShape.of(type).columns.filter { !own.contains($0.name) }
        self.init(
            type.tableName, columns: columns.map { Column($0.name, $0.type) }, indexes: type.indexes,
            references: type.references)
    }
}
