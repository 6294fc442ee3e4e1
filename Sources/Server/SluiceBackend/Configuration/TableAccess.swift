/// Who may do what to a table.
///
/// ```swift
/// var access = TableAccess(.authenticated)
/// access[.read] = .anonymous
/// access[.delete] = .disabled
/// ```
public struct TableAccess: Sendable, Hashable {
    /// Who may.
    public enum Level: String, Sendable, Hashable, CaseIterable {
        /// Everyone.
        case anonymous
        /// Who brings a valid token.
        case authenticated
        /// No one: 405.
        case disabled
    }

    private var levels: [BackendOperation: Level] = [:]

    /// The same for every operation.
    public init(_ level: Level) {
        for operation in BackendOperation.allCases { levels[operation] = level }
    }

    /// Who may do the operation.
    public subscript(operation: BackendOperation) -> Level {
        get { levels[operation] ?? .disabled }
        set { levels[operation] = newValue }
    }

    /// Everyone may do everything.
    public static let anonymous = TableAccess(.anonymous)
    /// Who brings a valid token may do everything.
    public static let authenticated = TableAccess(.authenticated)
}

/// What a request does to a table's records, as rules and hooks tell it apart.
public enum BackendOperation: String, Sendable, Hashable, CaseIterable {
    /// A list, or one record by its id.
    case read
    /// A new record.
    case insert
    /// A change of a record's properties, or their replacement.
    case update
    /// A delete, be it into a tombstone.
    case delete
    /// A tombstone made a record again.
    case undelete
}
