internal import SluiceCore

/// How the notes of a story depend on its items.
public enum SimulationDependency: String, Sendable, Hashable, CaseIterable {
    /// They do not.
    case none
    /// Each on the item that its column `item` names.
    case column
    /// All on all.
    case table

    /// As the devices' contexts are told.
    var declared: [TableDependency] {
        switch self {
        case .none: []
        case .column: [TableDependency("notes", on: "items", by: "item")]
        case .table: [TableDependency("notes", on: "items")]
        }
    }
}
