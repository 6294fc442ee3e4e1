internal import SluiceBase
internal import SluiceSync

/// Conditions of a filter about what the device knows of a record, and no service: `Sluice.isLocal()`,
/// `Sluice.hasPendingChanges()`, `Sluice.inErrorState()`, `Sluice.newSinceLastDownload()`. The namespace may be another
/// one, as SAP's `sap`, and so may the last one's name: SAP's is `upsertedlastdownload`.
///
/// They are replaced by the ids of the records for which they are true.
struct StatePredicates: Sendable {
    let context: SyncContext

    private enum Predicate: String, CaseIterable {
        /// As it was made or changed here: the service's answer to an upload takes the place of what is local.
        case isLocal = "islocal"
        /// With a change that waits in the queue.
        case hasPendingChanges = "haspendingchanges"
        /// With a change that did not go through.
        case inErrorState = "inerrorstate"
        /// Stored by the last download.
        case newSinceLastDownload = "newsincelastdownload"

        init?(name: String) {
            self.init(rawValue: name == "upsertedlastdownload" ? Self.newSinceLastDownload.rawValue : name)
        }
    }

    /// What is known of the records of a table.
    private struct Knowledge {
        var operations: [TableOperation]
        var downloaded: DownloadedRecords.Table

        func condition(_ predicate: Predicate) -> QueryExpression {
            switch predicate {
            case .isLocal, .hasPendingChanges: Self.isOne(of: operations.map(\.recordID))
            case .inErrorState:
                Self.isOne(of: operations.filter { $0.state == .parked || $0.state == .dead }.map(\.recordID))
            case .newSinceLastDownload:
                // What was made here was not downloaded, however many records were.
                downloaded.isWhole
                    ? .unary(.not, Self.isOne(of: operations.filter { $0.kind == .insert }.map(\.recordID)))
                    : Self.isOne(of: downloaded.ids)
            }
        }

        private static func isOne(of ids: some Sequence<RecordID>) -> QueryExpression {
            let ids = Set(ids).sorted()
            return ids.isEmpty ? .literal(.bool(false)) : .membership(.column("id"), ids.map { .id($0) })
        }
    }

    /// The read without such conditions, and whether it asks only for records that are here, whatever else the service
    /// has: those with waiting changes, or of the last download.
    func resolved(_ read: TableRead) async throws -> (TableRead, isAboutState: Bool) {
        guard let filter = read.options.filter, Self.mentions(filter) else { return (read, false) }
        let table = read.table
        let knowledge = Knowledge(
            operations: try await context.queue.operations(QueueFilter(table: table)),
            downloaded: try await context.store.read { try DownloadedRecords.table(table, in: $0) })
        var resolved = read
        resolved.options.filter = Self.replaced(filter, knowledge)
        return (resolved, Self.requires(filter) && read.options.expand.isEmpty)
    }

    private static func predicate(_ expression: QueryExpression) -> Predicate? {
        guard case .path(let path) = expression, path.root == .record, path.steps.count == 1,
            case .function(let name, let arguments) = path.steps[0], arguments.isEmpty
        else { return nil }
        return Predicate(name: name.split(separator: ".").last.map { $0.lowercased() } ?? "")
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

    private static func replaced(_ expression: QueryExpression, _ knowledge: Knowledge) -> QueryExpression {
        guard let predicate = predicate(expression) else {
            return expression.mappingChildren { replaced($0, knowledge) }
        }
        return knowledge.condition(predicate)
    }
}
