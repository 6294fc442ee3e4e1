/// The access level of each operation on a table.
///
/// ```swift
/// var access = TableAccess(.authenticated)
/// access[.read] = .anonymous
/// access[.delete] = .disabled
/// ```
public struct TableAccess: Sendable, Hashable {
    /// The users that may do an operation.
    public enum Level: String, Sendable, Hashable, CaseIterable {
        /// Everyone.
        case anonymous
        /// Users with a valid token.
        case authenticated
        /// No one; the answer is 405.
        case disabled
    }

    private var levels: [BackendOperation: Level] = [:]

    /// Creates the same level for every operation.
    public init(_ level: Level) {
        for operation in BackendOperation.allCases { levels[operation] = level }
    }

    /// The level of an operation.
    public subscript(operation: BackendOperation) -> Level {
        get { levels[operation] ?? .disabled }
        set { levels[operation] = newValue }
    }

    /// All operations, for everyone.
    public static let anonymous = TableAccess(.anonymous)
    /// All operations, for users with a valid token.
    public static let authenticated = TableAccess(.authenticated)
}

/// An operation on a table's records, as rules and hooks distinguish them.
public enum BackendOperation: String, Sendable, Hashable, CaseIterable {
    /// A list, or one record by its id.
    case read
    /// A new record.
    case insert
    /// A change of a record's properties, or their replacement.
    case update
    /// A delete, with or without a tombstone.
    case delete
    /// A tombstone made a record again.
    case undelete
}

/// The size limit of one page in records and in bytes. A record larger than the bytes is a page of its own.
struct PageSize: Sendable, Hashable {
    var records: Int
    var bytes: Int
}
