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

    /// Whether one of the operations after that send collides, up to the record that the application sees.
    func collide(with successors: [TableOperation], from before: JSON?, to local: JSON?) -> Bool {
        successors.contains { successor in
            let isLast = successor.id == successors.last?.id
            let after = successor.kind == .delete ? nil : isLast ? local : successor.frozen ?? local
            return collide(withEditFrom: before, to: after)
        }
    }
}
