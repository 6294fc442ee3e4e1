internal import SluiceCore

/// The columns that the server alone writes.
enum SystemColumn {
    static let createdAt: PropertyName = "createdAt"
    static let updatedAt: PropertyName = "updatedAt"
    static let version: PropertyName = "version"
    static let deleted: PropertyName = "deleted"

    /// A table's integer ids as numbers, so that queries compare and sort them as such. No wire calls it so.
    static let number: PropertyName = "__id"
    /// When a record of a table with a view last left it: a change may only be told to those who could see the record
    /// before. No wire shows it.
    static let left: PropertyName = "__left"

    /// What is on the wires, except for the id.
    static let all = [createdAt, updatedAt, version, deleted]
    /// Those that are times.
    static let times: Set<PropertyName> = [createdAt, updatedAt]
    /// What is on no wire.
    static let hidden = [number, left]

    /// The columns as they are stored: times in full precision.
    static let declared: [TableSchema.Column] = [
        .init(createdAt, .date), .init(updatedAt, .date), .init(version, .string), .init(deleted, .boolean),
    ]
}
