internal import SluiceBase

/// Where rows come from: a server, as it shows itself to one user. Names are compared by their bytes.
struct RowSource: Sendable, Hashable {
    package var endpoint: String
    package var user: String

    package init(endpoint: String, user: String) {
        self.endpoint = endpoint
        self.user = user
    }

    package static func == (left: RowSource, right: RowSource) -> Bool {
        left.user.hasSameBytes(as: right.user) && left.endpoint.hasSameBytes(as: right.endpoint)
    }

    package func hash(into hasher: inout Hasher) { for text in [endpoint, user] { text.hashBytes(into: &hasher) } }
}

extension Cursor.Owner {
    package var source: RowSource { RowSource(endpoint: endpoint, user: user) }

    /// The same query of a store that is for others to begin with.
    var ofNobody: Cursor.Owner {
        var owner = self
        (owner.endpoint, owner.user) = ("", "")
        return owner
    }

    /// Whether it is the same query of the same server and user, by another wire.
    func isSameByOtherWire(_ other: Cursor.Owner) -> Bool {
        var same = other
        same.wire = wire
        return self == same && self != other
    }
}

extension Cursor {
    /// Has the query start afresh. The server then reports no row that left it before, so a reconcile has to find
    /// those.
    package mutating func restart() {
        position = nil
        needsReconcile = true
    }

    /// Whether it came with a prefilled store and no server has been asked with it yet.
    var isOfNobody: Bool { owner == owner.ofNobody }

    /// The cursor as it is of the first who pulls or pushes: that one goes on from where the shipped store was.
    func adopted(by source: RowSource) -> Cursor {
        guard isOfNobody else { return self }
        var adopted = self
        (adopted.owner.endpoint, adopted.owner.user) = (source.endpoint, source.user)
        return adopted
    }

    /// Has the queries of a table start afresh that are of other servers or users: rows that they have brought are
    /// about to be replaced or removed by this one, of which their servers know nothing and would not send them again.
    /// Those that came with the store are this one's from now on.
    static func restartOthers(
        than source: RowSource, of table: String, in store: any StoreWriter
    ) throws {
        let isOther = QueryExpression.binary(
            .or, .binary(.ne, .column("endpoint"), .literal(.string(source.endpoint))),
            .binary(.ne, .column("user"), .literal(.string(source.user))))
        for var cursor in try all(of: table, where: isOther, in: store) where cursor.isAfter(source) {
            if cursor.isOfNobody {
                try store.delete([cursor.owner.id], from: schema.name)
                cursor = cursor.adopted(by: source)
                guard try store.record(cursor.owner.id, in: schema.name) == nil else { continue }
            } else {
                cursor.restart()
            }
            try store.put(cursor.record, in: schema.name)
        }
    }

    /// Whether the query has to start afresh when rows of that source are stored.
    func isAfter(_ source: RowSource) -> Bool {
        owner.source != source && !(position == nil && needsReconcile)
    }

    /// Whether another user of the server has pulled the table last, and so left rows here that are that user's.
    func isOfOtherUser(than source: RowSource) -> Bool {
        owner.endpoint.hasSameBytes(as: source.endpoint) && owner.source != source && position != nil
    }

    /// Takes over what the query held by another wire, whose cursor goes. All of it is held until a pull of the whole
    /// query has ended with a reconcile, which finds what is to go.
    mutating func takeOver(_ former: Cursor, in store: any StoreWriter) throws {
        heldAll = heldAll || former.isOfAll || former.heldAll
        recheckLater(former.toRecheck)
        restart()
        if key == 0 {
            key = former.key
        } else if former.key != 0 {
            try Membership.move(from: former, to: self, in: store)
        }
        try store.delete([former.owner.id], from: Self.schema.name)
    }
}
