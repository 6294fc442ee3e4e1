/// A page of rows as a server sent it: the bytes, read once, with what the engine needs to know of each row.
///
/// The engine decides by ``rows`` which rows to take; the store binds those straight from the bytes. No document is
/// built unless someone asks for one.
public struct RowPage: Sendable {
    /// What the engine knows of a row before it is stored.
    public struct Row: Sendable, Hashable {
        /// The row's id.
        public var id: RecordID
        /// The version the server gave it.
        public var version: String?
        /// When it was last changed, as the server wrote it.
        public var updatedAt: String?
        /// Whether the row is a tombstone.
        public var isDeleted: Bool
        /// Whether the tombstone is of a row that is there still, and has left the query's filter.
        package var leftQuery = false
        /// Whether the row cannot be stored; the page's ``RowPage/problems`` have the reasons. Its id is then made up
        /// of its bytes, unless it has one.
        package var isUnfit = false
        /// The index of the row's object in the tape.
        package var token: Int

        package init(id: RecordID, version: String?, updatedAt: String?, isDeleted: Bool, token: Int) {
            self.id = id
            self.version = version
            self.updatedAt = updatedAt
            self.isDeleted = isDeleted
            self.token = token
        }
    }

    /// Some rows of a page, by index.
    public struct Selection: Sendable {
        /// The page.
        public let page: RowPage
        /// The indices into ``RowPage/rows``.
        public let indices: [Int]

        /// Those rows of `page`.
        public init(_ page: RowPage, _ indices: [Int]) {
            self.page = page
            self.indices = indices
        }
    }

    /// The rows, in the order in which they came. Two may have one id: the later is the newer state.
    public let rows: [Row]
    /// How many rows the query has in all, if the server reported it.
    public let count: Int?
    /// Where the server reports the next page is, if it said so: a URL, as the server wrote it.
    public let nextLink: String?
    /// Why rows cannot be stored, by index; empty for pages that are read for one.
    package let problems: [Int: String]
    package let bytes: [UInt8]
    package let tape: JSONTape
    /// What is to be stored in the place of rows, by index; empty for a page as it came.
    private var revisions: [Revision?] = []

    package init(
        rows: [Row], problems: [Int: String] = [:], count: Int? = nil, nextLink: String? = nil, bytes: [UInt8],
        tape: JSONTape
    ) {
        self.rows = rows
        self.problems = problems
        self.count = count
        self.nextLink = nextLink
        self.bytes = bytes
        self.tape = tape
    }

    /// The same page with all of its rows set aside, for that reason.
    package func settingAside(_ reason: String) -> RowPage {
        var rows = rows
        for index in rows.indices { rows[index].isUnfit = true }
        let problems = Dictionary(uniqueKeysWithValues: rows.indices.map { ($0, reason) })
        return RowPage(rows: rows, problems: problems, count: count, nextLink: nextLink, bytes: bytes, tape: tape)
    }

    /// The row as a record.
    public func record(at index: Int) -> JSON {
        switch revision(at: index) {
        case nil: recordAsCame(at: index)
        case .members(let members): recordAsCame(at: index).setting(members)
        case .record(let record): record
        }
    }

    /// The row's text as the server wrote it.
    package func source(at index: Int) -> String {
        let token = tape.tokens[rows[index].token]
        let isText = token.kind == .string
        let (start, end) = (Int(token.start) - (isText ? 1 : 0), Int(token.end) + (isText ? 1 : 0))
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    private func recordAsCame(at index: Int) -> JSON {
        bytes.withUnsafeBufferPointer { JSON(tape, at: rows[index].token, in: $0) }
    }
}

extension RowPage {
    /// What stands in the place of a row, or of a part of it.
    package enum Revision: Sendable, Hashable {
        /// These members; the others are as they came. The id is never one of them.
        case members(JSON)
        /// This record.
        case record(JSON)
    }

    /// The same page with other contents of rows: one for each, nil for those that are as they came. What ``rows`` says
    /// of a row stays so.
    package func revised(_ revisions: [Revision?]) -> RowPage {
        var page = self
        page.revisions = revisions
        return page
    }

    /// What stands in the place of the row.
    package func revision(at index: Int) -> Revision? { revisions.isEmpty ? nil : revisions[index] }
}
