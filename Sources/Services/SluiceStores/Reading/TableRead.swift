internal import SluiceBase

/// A read of one table, the form in which stores are asked: a path leads to it, step by step.
struct TableRead: Sendable {
    var table: String
    /// The options; the filter of a path is part of them.
    var options: ODataOptions
    /// The key of a single requested record.
    var key: RecordID?
    /// The link along which a path led here; nil if it began here.
    var link: Link?

    /// A link from a record to records of a table.
    struct Link: Sendable {
        /// The table and key of the record with the link.
        var table: String
        var key: RecordID
        /// The navigation property.
        var name: PropertyName
        /// The condition for the link in the read's filter; nil if the read's key replaces it.
        var condition: QueryExpression?
    }

    /// Returns the read with a further condition.
    func restricted(to condition: QueryExpression) -> TableRead {
        var read = self
        read.options.filter = options.filter.map { .binary(.and, condition, $0) } ?? condition
        return read
    }

    /// The read of the link's owner with its linked records expanded: a store with that answer has this one too. Nil if
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
        outer.expand = [ODataOptions.ExpandItem(link.name, options: inner)]
        return TableRead(table: link.table, options: outer, key: link.key)
    }

    /// The options with the key as a condition.
    var wholeOptions: ODataOptions {
        guard let key else { return options }
        return restricted(to: .binary(.eq, .column("id"), .literal(.id(key)))).options
    }
}

/// The answer to a read of one table.
struct TableAnswer: Sendable {
    var records: [JSON]
    var count: Int?
    var provenance: StoreResult.Provenance
}

/// Answers reads of tables: each of the stores.
protocol TableReader: Sendable {
    var schemas: StoreSchemas { get }
    func answer(_ read: TableRead, _ options: ReadOptions) async throws -> TableAnswer
    /// Whether the record was created locally and no service has it yet.
    func isMadeHere(_ id: RecordID, in table: String) async throws -> Bool
    /// Returns this device's records that refer by id to a record without an assigned key.
    func referring(to id: RecordID, along reference: TableSchema.Reference) async throws -> [RecordID]
    /// Returns the result of a function of the service.
    func value(of call: OperationCall) async throws -> (JSON, StoreResult.Provenance)
}
