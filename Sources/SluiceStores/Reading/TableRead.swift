internal import SluiceBase

/// A read of one table, which is what stores are asked for: a path leads to it, step by step.
struct TableRead: Sendable {
    var table: String
    /// What is asked; the filter of a path is part of it.
    var options: ODataOptions
    /// The record that is asked for, where it is one.
    var key: RecordID?

    /// The read with a condition more.
    func restricted(to condition: QueryExpression) -> TableRead {
        var read = self
        read.options.filter = options.filter.map { .binary(.and, condition, $0) } ?? condition
        return read
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
    /// The result of a function of the service.
    func value(of call: OperationCall) async throws -> (JSON, StoreResult.Provenance)
}
