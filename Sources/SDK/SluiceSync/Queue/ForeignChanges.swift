internal import SluiceBase

/// The changes of other clients to a record after a send from here with an unknown outcome.
///
/// That send is done, and the other clients' changes stay. But a local edit made without knowledge of them must not
/// undo them. It is a conflict if both change one property, or if the edit is a delete.
struct ForeignChanges {
    private let server: JSON
    private let names: Set<PropertyName>

    /// - Parameters:
    ///   - server: the server's record.
    ///   - made: the record as our send left it; nil if that is not known.
    ///   - base: the record before our send. A property that our send removed and that still has its old value there
    ///     cannot be removed.
    ///   - isNew: whether our send made the record. A property that only repeats the service's id is then no foreign
    ///     change.
    ///   - table: the record's table. Values that its server sets there by itself are nobody's change.
    init(of server: JSON, since made: JSON?, base: JSON?, isNew: Bool, in table: String, columns: PushColumns) {
        let columns = columns.judging(table)
        self.server = server
        names = Set(server.names).union(made?.names ?? []).filter { name in
            name != columns.id && !columns.system.contains(name)
                && (server[name] ?? .null) != (made?[name] ?? .null)
                && !(made?[name]?.isNull == true && server[name] == base?[name])
                && !(isNew && made?[name] == nil && server[name]?.textID == columns.id(server))
        }
    }

    /// Whether an edit from `before` to `after` sets a property to a value other than the foreign one.
    func collide(withEditFrom before: JSON?, to after: JSON?) -> Bool {
        guard let after else { return !names.isEmpty }
        return names.contains { name in
            let value = after[name] ?? .null
            return value != (before?[name] ?? .null) && value != (server[name] ?? .null)
        }
    }

    /// Whether edits after an operation that is given up collide with changes that others have made since its base. Such
    /// edits keep that base: the server then refuses them, and the conflict is shown.
    ///
    /// - Parameters:
    ///   - later: the edits.
    ///   - operation: the operation that is given up.
    ///   - result: the record after it.
    ///   - base: the server's record on which it was made.
    ///   - server: the server's newest record; nil if it has none now.
    ///   - local: the record that the application sees.
    static func contest(
        _ later: [TableOperation], after operation: TableOperation, making result: JSON?, base: JSON?, server: JSON?,
        local: JSON?, columns: PushColumns
    ) -> Bool {
        guard operation.kind != .undelete, base != server else { return false }
        if base == nil, operation.kind != .insert {
            // A new record meets the server's, which was never seen here, as any insert does.
            return operation.kind == .delete && server != nil && later.first?.kind == .insert
        }
        // After a delete, later operations restore the record on purpose.
        guard let server else { return operation.kind != .delete && later.contains { $0.kind != .delete } }
        // An undelete has brought the newest record back, and the edits were made on that.
        if let seen = local?[columns.version], !seen.isNull, seen == server[columns.version] { return false }
        let foreign = ForeignChanges(
            of: server, since: base, base: base, isNew: false, in: operation.table, columns: columns)
        return foreign.collide(with: later, from: result ?? base, to: local)
    }

    /// Whether one of the operations after that send collides, up to the record that the application sees.
    func collide(with successors: [TableOperation], from before: JSON?, to local: JSON?) -> Bool {
        successors.contains { successor in
            let isLast = successor.id == successors.last?.id
            let after = successor.kind == .delete ? nil : isLast ? local : successor.frozen ?? local
            return collide(withEditFrom: before, to: after)
        }
    }
}
