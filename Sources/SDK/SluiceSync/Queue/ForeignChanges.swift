internal import SluiceBase

/// What other clients changed of a record after a send from here whose outcome is unknown.
///
/// That send is done, and what they wrote stays. But an edit that was made here without knowing of it must not take it
/// back: where both change one property, or the edit is a delete, it is a conflict.
struct ForeignChanges {
    private let server: JSON
    private let names: Set<PropertyName>

    /// - Parameters:
    ///   - server: the record as the server has it.
    ///   - made: the record as our send left it; nil if that is not known.
    ///   - base: the record as it was before that. What our send took away and the server still has cannot be taken away.
    ///   - isNew: whether our send made the record. Where its id is a property of the service too, that one has come of it.
    ///   - table: whose record it is; what its server sets there by itself is nobody's change.
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

    /// Whether an edit from the one record to the other sets a property to another value than they do.
    func collide(withEditFrom before: JSON?, to after: JSON?) -> Bool {
        guard let after else { return !names.isEmpty }
        return names.contains { name in
            let value = after[name] ?? .null
            return value != (before?[name] ?? .null) && value != (server[name] ?? .null)
        }
    }

    /// The same for the operations after that send, up to the record as the application sees it.
    func collide(with successors: [TableOperation], from before: JSON?, to local: JSON?) -> Bool {
        successors.contains { successor in
            let isLast = successor.id == successors.last?.id
            let after = successor.kind == .delete ? nil : isLast ? local : successor.frozen ?? local
            return collide(withEditFrom: before, to: after)
        }
    }
}
