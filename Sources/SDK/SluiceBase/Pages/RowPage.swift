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

extension RowPage {
    /// Which members of a row the engine reads.
    package struct SystemColumns: Sendable, Hashable {
        /// The name of the member that identifies a row.
        package var id: PropertyName
        /// The name of the member that holds the server's version.
        package var version: PropertyName
        /// the name of the member that has the time when the row was last changed.
        package var updatedAt: PropertyName
        /// The name of the member that is `true` in a tombstone.
        package var deleted: PropertyName

        package init(
            id: PropertyName = "id", version: PropertyName = "version", updatedAt: PropertyName = "updatedAt",
            deleted: PropertyName = "deleted"
        ) {
            self.id = id
            self.version = version
            self.updatedAt = updatedAt
            self.deleted = deleted
        }
    }

    /// Where the rows stand in an answer. A bare array of rows is read with every shape; an answer that is an object
    /// holds them under a name.
    package struct Shape: Sendable, Hashable {
        /// The names under which the rows may stand; if several do, the first of this list counts.
        package var rows: [String]
        /// The name of the member with the number of all rows.
        package var count: String
        /// The name of the member with the address of the next page.
        package var nextLink: String
        /// The names of members that say that the rows are not all.
        static let errors = ["error", "errors"]

        package init(rows: [String], count: String = "count", nextLink: String = "nextLink") {
            self.rows = rows
            self.count = count
            self.nextLink = nextLink
        }

        /// Any of the two below: the answer shows which it is.
        package static let tables = Shape(rows: ["items", "results"])
        /// Mobile Services and Mobile Apps: `{"results": […], "count": N}` where a count was asked for.
        package static let results = Shape(rows: ["results"])
        /// Datasync: `{"items": […], "count": N, "nextLink": "…"}`.
        package static let items = Shape(rows: ["items"])
    }
}

extension RowPage {
    /// Reads a page from the bytes of an answer: a bare array of rows, or an object that holds them as `shape` says.
    ///
    /// - Parameter requiresIDs: whether a row without an id is an error, as it is for a page that is stored. Else its
    ///   id is empty: a projection may leave the id out.
    /// - Parameter setsAside: whether a row that cannot be stored is reported by ``problems`` instead of failing the
    ///   page.
    /// - Throws: ``SluiceError`` of code `brokenProtocol`: for bytes that are not JSON (the cause is the
    ///   ``JSONParseError``), for an answer without rows, and for a row that is not an object with a non-empty string
    ///   id (or an integer, where allowed), which the message names by its index.
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
        var brokenTexts: [UInt32]? = setsAside ? [] : nil
        do throws(JSONParseError) {
            // A row is two levels down at the most. What nests deeper than a row may is set aside with its row.
            tape = try JSONTape(
                buffer, maximumValues: maximumValues, maximumDepth: JSON.maximumDepth + (setsAside ? 2 : 0),
                brokenTexts: &brokenTexts)
        } catch {
            throw SluiceError(
                error.isTooLarge ? .tooLarge : .brokenProtocol,
                error.isTooLarge
                    ? "The server's answer has \(error.reason) (Limits.responseValues)."
                    : "The server's answer is not the page of rows that was asked for.", table: table, cause: error)
        }
        var reader = RowPageReader(
            tape: tape, bytes: buffer, columns: columns, table: table, allowsIntegerIDs: allowsIntegerIDs,
            requiresIDs: requiresIDs, setsAside: setsAside, brokenTexts: brokenTexts ?? [])
        let parts = try reader.parts(shape)
        let rows = try reader.rows(in: parts.rows)
        return RowPage(
            rows: rows, problems: reader.problems, count: parts.count, nextLink: parts.nextLink, bytes: bytes,
            tape: tape)
    }

    /// Reads a page from an answer that something asked to see as a document: it is printed and read again, so that
    /// the rules are the same.
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
