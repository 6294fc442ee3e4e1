/// A row of the server's that is about to be stored.
public struct PulledRow: Sendable {
    /// The row's id.
    public var id: String
    /// The version the server gave it.
    public var version: String?
    /// When the server says it was last changed, as the server wrote it.
    public var updatedAt: String?
    /// Whether the server says that the row is deleted, or that it has left the query. Such a row is looked at only: it is
    /// kept whatever is decided.
    public var isTombstone: Bool
    /// Where the row is read from, if it is not a record by itself.
    package private(set) var source: Source?
    /// What hooks have made of it; a row without a source has its record here.
    package private(set) var revision: RowPage.Revision?

    /// A row of a page.
    package struct Source: Sendable {
        package let page: PulledText
        package let index: Int
    }

    package init(
        id: String, version: String? = nil, updatedAt: String? = nil, isTombstone: Bool = false, record: JSON
    ) {
        self.id = id
        self.version = version
        self.updatedAt = updatedAt
        self.isTombstone = isTombstone
        revision = .record(record)
    }

    /// The row of a page, which becomes a record when somebody asks for one.
    package init(_ page: PulledText, _ index: Int) {
        let row = page.page.rows[index]
        id = row.id
        version = row.version
        updatedAt = row.updatedAt
        isTombstone = row.isDeleted || row.leftQuery
        source = Source(page: page, index: index)
    }

    /// The whole row. Asking for a member of it by ``subscript(_:)`` costs less.
    public var record: JSON {
        get {
            switch revision {
            case nil: recordAsCame
            case .members(let members): recordAsCame.setting(members)
            case .record(let record): record
            }
        }
        set { revision = .record(newValue) }
    }

    private var recordAsCame: JSON { source.map { $0.page.record(at: $0.index) } ?? .object }

    /// A member of the row, read where it stands: the rest of the row is not made into a record for it.
    public subscript(name: String) -> JSON? {
        switch revision {
        case nil: return memberAsCame(name)
        case .members(let members): return members[name] ?? memberAsCame(name)
        case .record(let record): return record[name]
        }
    }

    private func memberAsCame(_ name: String) -> JSON? { source.flatMap { $0.page.page.member(name, at: $0.index) } }

    /// Sets members.
    package mutating func set(_ members: JSON) {
        switch revision {
        case nil: revision = .members(members)
        case .members(let earlier): revision = .members(earlier.setting(members))
        case .record(let record): revision = .record(record.setting(members))
        }
    }
}

extension PulledRow: Hashable {
    /// Whether both are the same row, wherever it is read from.
    public static func == (left: PulledRow, right: PulledRow) -> Bool {
        left.id == right.id && left.version == right.version && left.updatedAt == right.updatedAt
            && left.isTombstone == right.isTombstone && left.record == right.record
    }

    /// Adds the row to `hasher`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(version)
    }
}
