internal import SluiceBase

/// Prevents a pull from emptying a table without permission: a server that lost its data, or a forged answer, must not
/// delete the local copy.
struct RemovalGuard: Sendable {
    package let options: PullOptions
    package let isAllowed: Bool
    /// The number of rows removed by the pull so far.
    package var removed = 0

    package init(_ options: PullOptions, isAllowed: Bool) {
        self.options = options
        self.isAllowed = isAllowed
    }

    /// Allows the removal of more rows of the table, or throws.
    ///
    /// - Throws: ``SluiceError`` of code `removalsHeld`.
    package func check(_ count: Int, of table: String, in store: any StoreReader) throws {
        let total = removed + count
        guard !isAllowed, total > options.maximumRemovedRows else { return }
        let rows = try store.count(matching: TableQuery(table)) + removed
        guard total * 100 > rows * options.maximumRemovedPercent else { return }
        throw SluiceError(
            .removalsHeld,
            "the server would have \(total.grouped) of \(rows.counted("row")) removed here, more than \(options.maximumRemovedPercent) %; "
                + "allow it if that is right", table: table)
    }
}
