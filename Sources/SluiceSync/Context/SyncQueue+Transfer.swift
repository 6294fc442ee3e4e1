internal import SluiceBase

extension SyncQueue {
    /// The operations that the filter takes as a text, one JSON document a line, with all that another store needs to
    /// carry them on: their records, what these were made on, tags, groups, and why they wait. It holds no credentials.
    /// The operations stay in the queue.
    ///
    /// A group or a record's operations of which the filter takes only some cannot be imported by themselves; filter by
    /// table or by record for a text that can.
    public func export(_ filter: QueueFilter = QueueFilter()) async throws -> String {
        let lines = try await context.shared.read { reader in
            let queue = QueueReader(reader)
            return try queue.all(filter).map { try Self.document($0, reader, queue).json.description }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func document(
        _ operation: TableOperation, _ reader: any StoreReader, _ queue: QueueReader
    ) throws -> OperationDocument {
        let (table, id) = (operation.table, operation.recordID)
        let all = try queue.all(on: id, in: table)
        let state = try queue.state(of: id, in: table)
        let local = try reader.record(id, in: table)
        let isLast = all.last?.id == operation.id
        let isFirst = all.first?.id == operation.id
        return OperationDocument(
            operation, after: isLast ? local : operation.resultingRecord(local: local, mirror: state?.mirror),
            base: isFirst ? state?.base : nil, mirror: isFirst ? state?.mirror : nil,
            members: try operation.group.map { try queue.members(of: $0).count })
    }

    /// Puts exported operations at the end of this queue and their records into the store: all of them, or none. Those
    /// that are in the queue or were imported before are skipped, so that the same text may be imported again.
    ///
    /// - Parameter text: what ``export(_:)`` made, or someone else: it is believed nothing.
    /// - Throws: ``SluiceError`` of code `invalidRecord` for a line that is no operation; `operationsPending` for a
    ///   record that has changes waiting here; `recordExists` for an insert of a record that is here;
    ///   `operationRefused` for a group that cannot be sent or is not whole: as many as each line says it has, none of
    ///   them in the queue or imported before.
    @discardableResult
    public func `import`(_ text: String) async throws -> QueueImport {
        let columns = context.dialect.pushColumns
        let environment = context.options.environment
        let groupLimit = try? context.groupLimit()
        var documents: [OperationDocument] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.allSatisfy(\.isWhitespace) { continue }
            documents.append(try OperationDocument(parsing: line, line: index + 1, system: columns.system))
        }
        let imported = documents
        return try await context.shared.write(at: .localChange, environment) { writer in
            let staying = try LocalOnly(writer).tables
            if let table = imported.map(\.operation.table).first(where: staying.contains) {
                throw SluiceError(
                    .operationRefused, "the table stays on this machine, and nothing of it is queued", table: table)
            }
            return try OperationImport(
                environment: environment, columns: columns, groupLimit: groupLimit, store: writer,
                queue: QueueWriter(writer)
            ).carryOut(imported)
        }
    }
}
