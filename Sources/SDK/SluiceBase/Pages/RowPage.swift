/// A page of rows as a server sent it: the bytes, read once, and the engine's data on each row.
///
/// The engine selects rows by ``rows``, and the store binds those directly from the bytes. A document is built only on
/// request.
public struct RowPage: Sendable {
    /// The engine's data on a row before it is stored.
    public struct Row: Sendable, Hashable {
        /// The row's id.
        public var id: RecordID
        /// The version from the server.
        public var version: String?
        /// The time of the last change, as the server wrote it.
        public var updatedAt: String?
        /// Whether the row is a tombstone.
        public var isDeleted: Bool
        /// Whether the tombstone is of an existing row that has left the query's filter.
        package var leftQuery = false
        /// Whether the row cannot be stored; the page's ``RowPage/problems`` have the reasons. A row without an id then
        /// gets one derived from its bytes.
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

        /// Selects those rows of `page`.
        public init(_ page: RowPage, _ indices: [Int]) {
            self.page = page
            self.indices = indices
        }
    }

    /// The rows, in the server's order. Two may have the same id: the later one is the newer state.
    public let rows: [Row]
    /// The number of all rows of the query, if the server reported it.
    public let count: Int?
    /// The URL of the next page as the server wrote it, if it sent one.
    public let nextLink: String?
    /// The reasons against storing rows, by index; empty for pages that are read strictly.
    package let problems: [Int: String]
    package let bytes: [UInt8]
    package let tape: JSONTape
    /// The replacements of rows, by index; empty for an unchanged page.
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

    /// Returns the page with all of its rows set aside, for that reason.
    package func settingAside(_ reason: String) -> RowPage {
        var rows = rows
        for index in rows.indices { rows[index].isUnfit = true }
        let problems = Dictionary(uniqueKeysWithValues: rows.indices.map { ($0, reason) })
        return RowPage(rows: rows, problems: problems, count: count, nextLink: nextLink, bytes: bytes, tape: tape)
    }

    /// Returns the row as a record.
    public func record(at index: Int) -> JSON {
        switch revision(at: index) {
        case nil: recordAsCame(at: index)
        case .members(let members): recordAsCame(at: index).setting(members)
        case .record(let record): record
        }
    }

    /// Returns the row's text as the server wrote it.
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
    /// The replacement of a row, or of a part of it.
    package enum Revision: Sendable, Hashable {
        /// These members replace those of the row; the others stay. The id is never one of them.
        case members(JSON)
        /// This record replaces the row.
        case record(JSON)
    }

    /// Returns the page with other contents of rows: one replacement for each row, nil for an unchanged one. The data
    /// in ``rows`` stays the same.
    package func revised(_ revisions: [Revision?]) -> RowPage {
        var page = self
        page.revisions = revisions
        return page
    }

    /// Returns the replacement of the row; nil for an unchanged one.
    package func revision(at index: Int) -> Revision? { revisions.isEmpty ? nil : revisions[index] }
}

extension RowPage {
    /// The position of the rows in an answer. Every shape accepts a bare array of rows; an answer that is an object
    /// holds them under a name.
    package struct Shape: Sendable, Hashable {
        /// The possible names of the rows' member; if several exist, the first of this list counts.
        package var rows: [String]
        /// The name of the member with the number of all rows.
        package var count: String
        /// The name of the member with the address of the next page.
        package var nextLink: String
        /// The names of members that report that rows are missing.
        static let errors = ["error", "errors"]

        package init(rows: [String], count: String = "count", nextLink: String = "nextLink") {
            self.rows = rows
            self.count = count
            self.nextLink = nextLink
        }

        /// Either of the two shapes below; the answer shows which one.
        package static let tables = Shape(rows: ["items", "results"])
        /// Mobile Services and Mobile Apps: `{"results": […], "count": N}` if a count was requested.
        package static let results = Shape(rows: ["results"])
        /// Datasync: `{"items": […], "count": N, "nextLink": "…"}`.
        package static let items = Shape(rows: ["items"])
    }
}

extension RowPage {
    /// Reads a page from the bytes of an answer: a bare array of rows, or an object that holds them under a name of
    /// `shape`.
    ///
    /// - Parameter requiresIDs: whether a row without an id is an error, as in a page that is stored. Otherwise its id
    ///   is empty: a projection may leave the id out.
    /// - Parameter setsAside: whether a row that cannot be stored is reported by ``problems`` instead of failing the
    ///   page.
    /// - Throws: ``SluiceError`` of code `brokenProtocol`: for bytes that are not JSON (the cause is the
    ///   ``JSON.ParseError``), for an answer without rows, and for a row that is not an object with a non-empty string
    ///   id (or an integer, where allowed). The message names the row's index.
    package init(
        bytes: [UInt8], columns: SystemColumns = SystemColumns(), shape: Shape = .results, table: String? = nil,
        allowsIntegerIDs: Bool = false, requiresIDs: Bool = true, setsAside: Bool = false,
        maximumValues: Int = .max
    ) throws(SluiceError) {
        let read = bytes.withUnsafeBufferPointer { buffer -> Result<RowPage, SluiceError> in
            do throws(SluiceError) {
                return .success(
                    try Self.read(
                        bytes, buffer, columns, shape, table, allowsIntegerIDs, requiresIDs, setsAside, maximumValues))
            } catch {
                return .failure(error)
            }
        }
        self = try read.get()
    }

    private static func read(
        _ bytes: [UInt8], _ buffer: UnsafeBufferPointer<UInt8>, _ columns: SystemColumns, _ shape: Shape,
        _ table: String?, _ allowsIntegerIDs: Bool, _ requiresIDs: Bool, _ setsAside: Bool, _ maximumValues: Int
    ) throws(SluiceError) -> RowPage {
        let tape: JSONTape
        var faults: [JSONFault]? = setsAside ? [] : nil
        do throws(JSON.ParseError) {
            // A row is at most two levels down. A row that nests too deep is set aside.
            tape = try JSONTape(
                buffer, maximumValues: maximumValues, maximumDepth: JSON.maximumDepth + (setsAside ? 2 : 0),
                faults: &faults)
        } catch {
            throw SluiceError(
                error.isTooLarge ? .tooLarge : .brokenProtocol,
                error.isTooLarge
                    ? "The server's answer has \(error.reason) (SyncRequest.Limits.responseValues)."
                    : "The server's answer is not the page of rows that was asked for.", table: table, cause: error)
        }
        var reader = RowPageReader(
            tape: tape, bytes: buffer, columns: columns, table: table, allowsIntegerIDs: allowsIntegerIDs,
            requiresIDs: requiresIDs, setsAside: setsAside, faults: faults ?? [])
        let parts = try reader.parts(shape)
        let rows = try reader.rows(in: parts.rows)
        return RowPage(
            rows: rows, problems: reader.problems, count: parts.count, nextLink: parts.nextLink, bytes: bytes,
            tape: tape)
    }

    /// Reads a page from an answer that was requested as a document. The document is printed and read again, so that
    /// the same rules apply.
    ///
    /// - Throws: as ``init(bytes:columns:shape:table:)``.
    package init(
        document: JSON, columns: SystemColumns = SystemColumns(), shape: Shape = .results, table: String? = nil
    ) throws(SluiceError) {
        try self.init(bytes: document.bytes(), columns: columns, shape: shape, table: table)
    }

    /// Makes a page of records.
    ///
    /// - Throws: as ``init(bytes:columns:shape:table:)``.
    package init(
        records: [JSON], columns: SystemColumns = SystemColumns(), table: String? = nil
    ) throws(SluiceError) {
        try self.init(document: JSON(records), columns: columns, table: table)
    }
}
