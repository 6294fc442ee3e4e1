/// A Codable type that knows the table of its records.
///
/// ```swift
/// struct Person: TableRecord {
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
/// A type need not conform: `client.table("people", of: Person.self)` accepts any that is `Codable & Sendable`.
public protocol TableRecord: Codable, Sendable {
    /// The table's name.
    static var tableName: String { get }
    /// A record with the default values of missing properties, except for its id; nil, the default, for none.
    static var defaults: Self? { get }
}

extension TableRecord {
    /// No defaults.
    public static var defaults: Self? { nil }
}
