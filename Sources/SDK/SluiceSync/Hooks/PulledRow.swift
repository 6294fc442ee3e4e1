public import SluiceBase
internal import Synchronization

/// A server row before it is stored.
public struct PulledRow: Sendable {
    /// The source of the row's content.
    package enum Source: Sendable {
        /// A row of a page.
        case page(PulledText, Int)
        /// A record without a page.
        case record(Head)
    }

    /// The metadata of a row without a page.
    package final class Head: Sendable {
        let id: RecordID
        let version: String?
        let updatedAt: String?
        let isTombstone: Bool

        init(_ id: RecordID, _ version: String?, _ updatedAt: String?, _ isTombstone: Bool) {
            self.id = id
            self.version = version
            self.updatedAt = updatedAt
            self.isTombstone = isTombstone
        }
    }

    package let source: Source
    /// The row as hooks have changed it, or the record of a row without a page; nil for an unchanged row of a page.
    package private(set) var revision: RowPage.Revision?

    package init(
        id: RecordID, version: String? = nil, updatedAt: String? = nil, isTombstone: Bool = false, record: JSON
    ) {
        source = .record(Head(id, version, updatedAt, isTombstone))
        revision = .record(record)
    }

    /// A row of a page. It is decoded into a record when one is first requested.
    package init(_ page: PulledText, _ index: Int) { source = .page(page, index) }

    /// The row's id.
    public var id: RecordID {
        switch source {
        case .page(let text, let index): text.page.rows[index].id
        case .record(let head): head.id
        }
    }

    /// The row's version, from the server.
    public var version: String? {
        switch source {
        case .page(let text, let index): text.page.rows[index].version
        case .record(let head): head.version
        }
    }

    /// The time of the row's last change, as the server wrote it.
    public var updatedAt: String? {
        switch source {
        case .page(let text, let index): text.page.rows[index].updatedAt
        case .record(let head): head.updatedAt
        }
    }

    /// Whether the server reports that the row is deleted, or that it has left the query. Hooks can only inspect such a
    /// row: it is kept whatever they decide.
    public var isTombstone: Bool {
        switch source {
        case .page(let text, let index): text.page.rows[index].isDeleted || text.page.rows[index].leftQuery
        case .record(let head): head.isTombstone
        }
    }

    /// The whole row. Reading one member by ``subscript(_:)`` costs less.
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

    private var recordAsCame: JSON {
        if case .page(let text, let index) = source { text.record(at: index) } else { .object }
    }

    /// Reads one member without decoding the rest of the row.
    public subscript(name: PropertyName) -> JSON? {
        switch revision {
        case nil: return memberAsCame(name)
        case .members(let members): return members[name] ?? memberAsCame(name)
        case .record(let record): return record[name]
        }
    }

    private func memberAsCame(_ name: PropertyName) -> JSON? {
        if case .page(let text, let index) = source { text.page.member(name, at: index) } else { nil }
    }

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
    /// Whether both are the same row, whatever their sources.
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

/// A page in front of hooks. Each row is decoded into a record once, when a hook first reads it whole.
package final class PulledText: Sendable {
    package let page: RowPage
    private let records = Mutex<[Int: JSON]>([:])

    package init(_ page: RowPage) { self.page = page }

    func record(at index: Int) -> JSON {
        if let record = records.withLock({ $0[index] }) { return record }
        let record = page.record(at: index)
        records.withLock { $0[index] = record }
        return record
    }
}
