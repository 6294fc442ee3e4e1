/// A list of a table's records, page after page. Each page is requested when the one before is used up.
///
/// ```swift
/// for try await person in people.records(TableQuery("people").sorted(by: "name")) { print(person.name) }
/// ```
///
/// It ends and fails as ``TablePages`` does.
public struct TableRecords<Row: Sendable>: AsyncSequence, Sendable {
    let pages: TablePages<Row>

    /// Returns one record after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var pages: TablePages<Row>.AsyncIterator
        fileprivate var rows: ArraySlice<Row> = []

        /// Returns the next record; nil after the last.
        public mutating func next() async throws -> Row? {
            while rows.isEmpty {
                guard let page = try await pages.next() else { return nil }
                rows = page.rows[...]
            }
            return rows.removeFirst()
        }
    }

    /// Returns a walk from the first record.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: pages.makeAsyncIterator()) }
}
