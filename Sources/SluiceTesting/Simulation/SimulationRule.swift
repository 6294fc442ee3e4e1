public import SluiceCore

/// An invariant of your own, which is checked of every device when all is well again at the end of a story.
///
/// ```swift
/// var configuration = SimulationConfiguration()
/// configuration.rules = [
///     SimulationRule("a is a number") { end in
///         let odd = end.local("items").first { ($0["a"] ?? 0).kind != .number }
///         return odd.map { "\($0) has none" }
///     }
/// ]
/// ```
public struct SimulationRule: Sendable {
    /// The rule's name, which stands in the violation.
    public let name: String
    let problem: @Sendable (End) -> String?

    /// A rule.
    ///
    /// - Parameter problem: returns what is wrong, or nil.
    public init(_ name: String, _ problem: @escaping @Sendable (End) -> String?) {
        self.name = name
        self.problem = problem
    }

    /// The end of a story, as one device has it. The tables are `items` and `notes`.
    public struct End: Sendable {
        /// The device's number, from 0.
        public let device: Int
        let tables: [String: [JSON]]
        let serverTables: [String: [JSON]]

        /// The rows that the device has, its own changes among them, by their ids.
        public func local(_ table: String) -> [JSON] { tables[table] ?? [] }

        /// The server's rows that are not deleted, by their ids.
        public func server(_ table: String) -> [JSON] { serverTables[table] ?? [] }
    }
}

extension SimulatedDevice {
    /// Checks the configuration's own rules.
    func checkRules() {
        guard !parts.configuration.rules.isEmpty else { return }
        let tables = parts.oracle.view(of: index) { view in
            view.tables.mapValues { rows in rows.sorted { $0.key < $1.key }.map(\.value) }
        }
        var serverTables: [String: [JSON]] = [:]
        for table in ["items", "notes"] {
            serverTables[table] = parts.server.rows(table).filter { !$0.isDeleted }.sorted { $0.id < $1.id }.map(\.wire)
        }
        let end = SimulationRule.End(device: index, tables: tables, serverTables: serverTables)
        for rule in parts.configuration.rules {
            guard let problem = rule.problem(end) else { continue }
            parts.oracle.violate(.rules, "device \(index), \(rule.name): \(problem)")
        }
    }
}
