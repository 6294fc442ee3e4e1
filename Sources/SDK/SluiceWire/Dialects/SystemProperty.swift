package import SluiceBase

/// A property that a server keeps of every record besides the application's content.
///
/// Each wire has its own names for these columns: ``version`` is `__version` in Mobile Services and `version` since.
/// A typed record uses the name in Swift, on every wire; see ``SyncRecord``.
public enum SystemProperty: String, Sendable, Hashable, CaseIterable {
    /// The time of creation. Datasync servers do not send it.
    case createdAt
    /// The time of the last change.
    case updatedAt
    /// The version of the record: an opaque text that changes with every write.
    case version
    /// Whether it is marked as deleted, in tables that keep deleted records.
    case deleted
}

extension Set<SystemProperty> {
    /// All system properties.
    public static var all: Self { Set(SystemProperty.allCases) }
}

extension Dialect {
    /// Returns the wire's name for a system property; nil if it has none.
    package func column(for property: SystemProperty) -> PropertyName? {
        switch property {
        case .createdAt: columns.createdAt
        case .updatedAt: columns.updatedAt
        case .version: columns.version
        case .deleted: columns.deleted
        }
    }

    /// Returns the value of `__systemProperties=` for these properties: `*` for all, the columns' names for some.
    package func selection(of properties: Set<SystemProperty>) -> [PropertyName] {
        if properties == .all { return ["*"] }
        return SystemProperty.allCases.filter(properties.contains).compactMap { column(for: $0) }
    }
}

extension SystemProperty {
    /// The system columns to request, on a wire that sends them only on request.
    public struct Selection: Sendable, Hashable {
        /// The columns' names on the wire, or `*` for all; an empty list requests none. Default `*`.
        public var standard: [String]
        /// The columns to request of single tables instead, by the table's name.
        public var tables: [String: [String]]

        /// A selection.
        public init(_ standard: [String] = ["*"], tables: [String: [String]] = [:]) {
            self.standard = standard
            self.tables = tables
        }

        /// Returns the columns to request of a table.
        public func values(for table: String) -> [String] { tables[table] ?? standard }
    }
}
