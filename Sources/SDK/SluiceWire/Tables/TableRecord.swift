/// A Codable type that knows the table its records are in.
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
/// **System properties** are those whose coding key is `createdAt`, `updatedAt`, `version` or `deleted`, on every wire:
/// the table gives each the wire's own name on the way out (`__version` in Mobile Services) and takes it back on the
/// way in. A type that wants another name in Swift declares it by its coding keys: `case etag = "version"`. Declare
/// those that you need, as optionals: a record that was never sent has none. A Mobile Services backend is asked for
/// those that the type declares, and for no other; a record without `version` is changed without a condition.
///
/// **A property that is newer than the rows** takes its value from ``defaults`` where a record lacks it; a type declares
/// `static let defaults: Person? = Person(name: "", level: 1)`. Without that a list, a set or a dictionary that a record
/// lacks is empty, and a record that lacks anything else does not fit the type.
///
/// A type need not conform: `client.table("people", of: Person.self)` takes any that is `Codable & Sendable`.
public protocol TableRecord: Codable, Sendable {
    /// The table's name.
    static var tableName: String { get }
    /// A record with the values of properties that a stored one lacks, its id aside; nil, which is the default, for none.
    static var defaults: Self? { get }
}

extension TableRecord {
    /// None.
    public static var defaults: Self? { nil }
}
