internal import SluiceBase
internal import SluiceSync

/// Conditions of a filter about what the device knows of a record, and no service: `Sluice.hasPendingChanges()`,
/// `Sluice.inErrorState()`; the namespace may be another one, as SAP's `sap`.
///
/// They are replaced by the ids of the records for which they are true.
struct StatePredicates: Sendable {
    let context: SyncContext

    private enum Predicate: String, CaseIterable {
        /// With a change that waits in the queue.
        case hasPendingChanges = "haspendingchanges"
        /// With a change that did not go through.
        case inErrorState = "inerrorstate"
    }

    /// The read without such conditions, and whether it asks only for records that have waiting changes: all of those are
    /// here.
    func resolved(_ read: TableRead) async throws -> (TableRead, isAboutState: Bool) {
        guard let filter = read.options.filter, Self.mentions(filter) else { return (read, false) }
        let operations = try await context.queue.operations(QueueFilter(table: read.table))
        var resolved = read
        resolved.options.filter = Self.replaced(filter, operations)
        return (resolved, Self.requires(filter) && read.options.expand.isEmpty)
    }

    private static func predicate(_ expression: QueryExpression) -> Predicate? {
        guard case .path(let path) = expression, path.root == .record, path.steps.count == 1,
            case .function(let name, let arguments) = path.steps[0], arguments.isEmpty
        else { return nil }
        let last = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
        return Predicate(rawValue: last)
    }

    private static func mentions(_ expression: QueryExpression) -> Bool {
        predicate(expression) != nil || expression.children.contains(where: mentions)
    }

    /// Whether the condition is true only where one of the predicates is.
    private static func requires(_ expression: QueryExpression) -> Bool {
        switch expression {
        case .binary(.and, let left, let right): requires(left) || requires(right)
        case .binary(.or, let left, let right): requires(left) && requires(right)
        default: predicate(expression) != nil
        }
    }

    private static func replaced(_ expression: QueryExpression, _ operations: [TableOperation]) -> QueryExpression {
        guard let predicate = predicate(expression) else {
            return expression.mappingChildren { replaced($0, operations) }
        }
        let meant = operations.filter { operation in
            switch predicate {
            case .hasPendingChanges: true
            case .inErrorState: operation.state == .parked || operation.state == .dead
            }
        }
        let ids = Set(meant.map(\.recordID)).sorted()
        return ids.isEmpty ? .literal(.bool(false)) : .membership(.column("id"), ids.map { .id($0) })
    }
}
