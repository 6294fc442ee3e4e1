internal import SluiceBase

/// A read of one table, which is what stores are asked for: a path leads to it, step by step.
struct TableRead: Sendable {
    var table: String
    /// What is asked; the filter of a path is part of it.
    var options: ODataOptions
    /// The record that is asked for, where it is one.
    var key: RecordID?
    /// The link along which a path led here; nil where it began here.
    var link: Link?

    /// A link from a record to records of a table.
    struct Link: Sendable {
        /// The record from which it leads.
        var table: String
        var key: RecordID
        /// The navigation property.
        var name: PropertyName
        /// The condition that stands for the link in the read's filter; nil where the read's key does.
        var condition: QueryExpression?
    }

    /// The read with a condition more.
    func restricted(to condition: QueryExpression) -> TableRead {
        var read = self
        read.options.filter = options.filter.map { .binary(.and, condition, $0) } ?? condition
        return read
    }

    /// The read of the link's owner with what is linked to it expanded: what holds its answer holds this one's. Nil where
    /// the path did not come along a link.
    var asExpansion: TableRead? {
        guard let link else { return nil }
        var inner = options
        if let condition = link.condition {
            switch options.filter {
            case condition: inner.filter = nil
            case .binary(.and, condition, let rest): inner.filter = rest
            default: return nil
            }
            if let key {
                let isKey = QueryExpression.binary(.eq, .column("id"), .literal(.id(key)))
                inner.filter = inner.filter.map { .binary(.and, isKey, $0) } ?? isKey
            }
        }
        var outer = ODataOptions()
        outer.expand = [ExpandItem(link.name, options: inner)]
        return TableRead(table: link.table, options: outer, key: link.key)
    }

    /// The options with the key as a condition.
    var wholeOptions: ODataOptions {
        guard let key else { return options }
        return restricted(to: .binary(.eq, .column("id"), .literal(.id(key)))).options
    }
}

/// What a read of one table came to.
struct TableAnswer: Sendable {
    var records: [JSON]
    var count: Int?
    var provenance: StoreResult.Provenance
}

/// What answers reads of tables: each of the stores.
protocol TableReader: Sendable {
    var schemas: StoreSchemas { get }
    func answer(_ read: TableRead, _ options: ReadOptions) async throws -> TableAnswer
    /// Whether the record was made here and no service has it yet.
    func isMadeHere(_ id: RecordID, in table: String) async throws -> Bool
    /// The records of this device that refer to one whose key is not assigned yet, by its id.
    func referring(to id: RecordID, along reference: TableSchema.Reference) async throws -> [RecordID]
    /// The result of a function of the service.
    func value(of call: OperationCall) async throws -> (JSON, StoreResult.Provenance)
}
