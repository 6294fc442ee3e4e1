internal import SluiceCore

/// The columns that only the server writes.
enum SystemColumn {
    static let createdAt: PropertyName = "createdAt"
    static let updatedAt: PropertyName = "updatedAt"
    static let version: PropertyName = "version"
    static let deleted: PropertyName = "deleted"

    /// A table's integer ids as numbers, so that queries compare and sort them as numbers. No wire shows this name.
    static let number: PropertyName = "__id"
    /// The time at which a record last left the table's view. Only clients that could see the record before may learn
    /// of a change. No wire shows this column.
    static let left: PropertyName = "__left"

    /// The columns on the wires, except the id.
    static let all = [createdAt, updatedAt, version, deleted]
    /// The columns that hold times.
    static let times: Set<PropertyName> = [createdAt, updatedAt]
    /// The columns on no wire.
    static let hidden = [number, left]

    /// The columns' stored types: times in full precision.
    static let declared: [TableSchema.Column] = [
        .init(createdAt, .date), .init(updatedAt, .date), .init(version, .string), .init(deleted, .boolean),
    ]
}
