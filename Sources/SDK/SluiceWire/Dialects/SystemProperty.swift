package import SluiceBase

/// What a server keeps of every record beside what the application wrote.
///
/// Each wire has its own names for these columns: ``version`` is `__version` in Mobile Services and `version` since.
/// A typed record uses the name in Swift, on every wire; see ``TableRecord``.
public enum SystemProperty: String, Sendable, Hashable, CaseIterable {
    /// When the record was made. Datasync servers do not send it.
    case createdAt
    /// When it was last changed.
    case updatedAt
    /// Which state of the record it is: an opaque text that changes with every write.
    case version
    /// Whether it is marked as deleted, in tables that keep deleted records.
    case deleted
}

extension Set<SystemProperty> {
    /// All of them.
    public static var all: Self { Set(SystemProperty.allCases) }
}

extension Dialect {
    /// The wire's name for a system property; nil if it has none.
    package func column(for property: SystemProperty) -> PropertyName? {
        switch property {
        case .createdAt: createdAtColumn
        case .updatedAt: columns.updatedAt
        case .version: columns.version
        case .deleted: columns.deleted
        }
    }

    /// What to write after `__systemProperties=` to be given these: `*` for all, the columns' names for some.
    package func selection(of properties: Set<SystemProperty>) -> [PropertyName] {
        if properties == .all { return ["*"] }
        return SystemProperty.allCases.filter(properties.contains).compactMap { column(for: $0) }
    }
}
