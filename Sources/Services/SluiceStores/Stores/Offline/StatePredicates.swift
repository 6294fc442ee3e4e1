internal import SluiceBase
internal import SluiceSync

/// Filter conditions about a record's state on the device, unknown to the service: `Sluice.isLocal()`,
/// `Sluice.hasPendingChanges()`, `Sluice.inErrorState()`, `Sluice.newSinceLastDownload()`. Other namespaces work too,
/// such as SAP's `sap`, and SAP's name of the last one, `upsertedlastdownload`.
///
/// They are replaced by the ids of the matching records.
struct StatePredicates: Sendable {
    let context: SyncContext

    private enum Predicate: String, CaseIterable {
        /// With local changes or created locally: the service's answer to an upload replaces the local state.
        case isLocal = "islocal"
        /// With a queued change.
        case hasPendingChanges = "haspendingchanges"
        /// With a failed change.
        case inErrorState = "inerrorstate"
        /// Stored by the last download.
        case newSinceLastDownload = "newsincelastdownload"

        init?(name: String) {
            self.init(rawValue: name == "upsertedlastdownload" ? Self.newSinceLastDownload.rawValue : name)
        }
    }

    /// The known state of the records of a table.
    private struct Knowledge {
        var operations: [TableOperation]
        var downloaded: DownloadedRecords.Table

        func condition(_ predicate: Predicate) -> QueryExpression {
            switch predicate {
            case .isLocal, .hasPendingChanges: Self.isOne(of: operations.map(\.recordID))
            case .inErrorState:
                Self.isOne(of: operations.filter { $0.state == .parked || $0.state == .dead }.map(\.recordID))
            case .newSinceLastDownload:
                // A record created locally was not downloaded, however many records were.
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

    /// Returns the read without such conditions, and whether it asks only for local records, whatever else the service
    /// has: those with queued changes, or of the last download.
    func resolved(_ read: TableRead) async throws -> (TableRead, isAboutState: Bool) {
        guard let filter = read.options.filter, Self.mentions(filter) else { return (read, false) }
        let table = read.table
        let knowledge = Knowledge(
            operations: try await context.queue.operations(TableOperation.Filter(table: table)),
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

    /// Whether the condition is true only if one of the predicates is.
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
