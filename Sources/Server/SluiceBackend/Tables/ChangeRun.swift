internal import Foundation
internal import HTTPTypes
internal import SluiceCore

/// A list in the order of changes: it has a delta token, or asks for one (OData 4.01, Protocol, sections 8.2.8.8 and
/// 11.3).
struct ChangeRun: Sendable {
    /// The request's token; nil for an initial run.
    let token: ChangeToken?
    /// The time from which an initial run reports changes; nil for all records.
    let start: Timestamp?
    /// The query of the run's changes.
    let query: ChangeQuery
    let parameters: ListParameters
    /// The table, filter, view and user of the run; its tokens are valid for the same only.
    private let purpose: [String]

    /// Creates a run; nil for an ordinary list.
    ///
    /// A hook may narrow a request by any rules. The records that it showed earlier are then unknown, so such a list
    /// has no tokens.
    ///
    /// - Throws: ``Refusal``: 400 for another order than the changes', 410 if a hook narrows the request.
    init?(
        _ request: TableRequest, _ parameters: ListParameters, _ scope: RowScope, narrowed: RowScope
    ) throws(Refusal) {
        let isInOrder = Self.isInOrder(parameters.query)
        let hidesMore = narrowed.filter != scope.filter
        if let text = parameters.deltaToken {
            let token = try ChangeToken(text)
            guard isInOrder else {
                throw Refusal(
                    .badRequest, "$deltatoken has neither $skip nor $orderby; changes come in their own order")
            }
            if hidesMore { throw ChangeToken.gone("what the request may see is decided by the server's own rules") }
            self.token = token
        } else {
            guard request.wantsChanges, isInOrder, !hidesMore else { return nil }
            token = nil
        }
        let (filter, start) = Self.split(parameters.query.filter)
        self.start = start
        self.parameters = parameters
        let rules = request.table.rules
        let living = QueryExpression.binary(.eq, .column(SystemColumn.deleted), .literal(.bool(false)))
        query = ChangeQuery(
            about: scope.narrowed(to: parameters.query.includesDeleted ? nil : living).applied(to: filter),
            owned: scope.owned, view: rules.view, position: token?.position ?? Timestamp(ticks: 0),
            base: token?.base ?? Timestamp(ticks: 0), size: parameters.size,
            includesCount: parameters.query.includesCount)
        purpose = [
            rules.name, filter?.odata(.v4) ?? "", rules.view?.odata(.v4) ?? "", scope.owned?.odata(.v4) ?? "",
        ]
    }

    /// Returns the fingerprint of the run's purpose in a database.
    func fingerprint(_ identity: String) -> UInt64 {
        Fingerprint.of([identity] + purpose)
    }

    /// Whether a list asks for no order other than the changes'.
    private static func isInOrder(_ query: TableQuery) -> Bool {
        let order = query.order.filter { $0.column != "id" && $0.column != SystemColumn.number }
        return query.skip == 0 && (query.order.isEmpty || order == [.init(SystemColumn.updatedAt)])
    }

    /// Splits off the lower bounds of the time in the outermost `and`, and returns the earliest one. A client that has
    /// read by time so far continues from there.
    private static func split(_ filter: QueryExpression?) -> (filter: QueryExpression?, start: Timestamp?) {
        switch filter {
        case .binary(.and, let left, let right)?:
            let (left, right) = (split(left), split(right))
            let starts = [left.start, right.start].compactMap { $0 }
            return (.all(left.filter, right.filter), starts.min())
        case .binary(.gt, .column(SystemColumn.updatedAt), .literal(.date(let time)))?: return (nil, time)
        case .binary(.ge, .column(SystemColumn.updatedAt), .literal(.date(let time)))?:
            return (nil, Timestamp(ticks: time.ticks - 1))
        default: return (filter, nil)
        }
    }
}

extension TableRequest {
    /// Whether the client asks for a delta token: `Prefer: odata.track-changes`, or without the prefix.
    var wantsChanges: Bool {
        guard let name = HTTPField.Name("Prefer") else { return false }
        return head.headerFields[values: name].flatMap { $0.split(separator: ",") }.contains { preference in
            let word = preference.prefix { $0 != ";" && $0 != "=" }.filter { $0 != " " && $0 != "\t" }.lowercased()
            return word == "odata.track-changes" || word == "track-changes"
        }
    }
}

/// A page of changes: the current records, the records gone from the list, and the next token.
struct FoundChanges: Sendable {
    var records: [JSON]
    var gone: [JSON]
    var count: Int?
    /// The token at which the next page begins.
    var token: ChangeToken
    /// Whether no further changes follow now.
    var isLast: Bool
}

extension RecordReads {
    /// Reads a page of changes, with the token of the next one.
    func changes(_ run: ChangeRun, _ session: TableSession) async throws -> FoundChanges {
        let floor = ReadFloor(point: run.token?.point, change: run.start.map { (request.table.name, $0) })
        let (page, token) = try await request.served.database.read(atLeast: floor) {
            [table = request.table, wire] connection in
            let fingerprint = run.fingerprint(try BackendCatalog.identity(connection))
            let changes = try BackendCatalog.changes(of: table.name, connection)
            var query = run.query
            if let token = run.token {
                try token.check(
                    fingerprint, changes, isInHistory: try BackendCatalog.has(token.point, connection))
            } else {
                query.base = run.start ?? changes.latest
                query.position = run.start ?? query.position
            }
            var page = try table.changes(query, latest: changes.latest, connection)
            if wire.showsKnownProperties {
                page.records = try table.completed(page.records, selected: run.parameters.query.select, connection)
            }
            let token = ChangeToken(
                position: page.position, base: query.base, fingerprint: fingerprint,
                point: try connection.latestPoint())
            return (page, token)
        }
        let selected = run.parameters.query.select
        let columns = wire.selection(selected, asked: request.asked)
        let records = try await session.answering(
            page.records.map { TableQuery.Evaluator.selecting(columns, from: $0) })
        return FoundChanges(
            records: records, gone: page.gone, count: page.count, token: token, isLast: page.isLast)
    }

    /// Returns a page of changes in the form of the tables' wires.
    func reply(_ changes: FoundChanges, selected: [PropertyName]) -> Reply {
        var reply = page(
            shown(changes.records, selected: selected) + changes.gone.map(wire.removed), count: changes.count, next: nil
        )
        if let applied = HTTPField.Name("Preference-Applied"), let field = HTTPField.Name("X-Sluice-Delta-Token") {
            reply.headers[applied] = "odata.track-changes"
            reply.headers[field] = changes.token.text
        }
        return reply
    }
}

/// The position up to which a client knows a table's changes. It grants no access: each request is checked separately.
/// The fingerprint only prevents its use for another list, where changes would be missed.
struct ChangeToken: Sendable, Hashable {
    /// The last sent change.
    var position: Timestamp
    /// See ``ChangeQuery/base``.
    var base: Timestamp
    /// The hash of the token's purpose: database, table, filter, view and user.
    var fingerprint: UInt64
    /// The point of the database's history at its creation. A restored database may lack it.
    var point: HistoryPoint

    private static let format: UInt8 = 2

    init(position: Timestamp, base: Timestamp, fingerprint: UInt64, point: HistoryPoint) {
        self.position = position
        self.base = base
        self.fingerprint = fingerprint
        self.point = point
    }

    /// The token's text for clients.
    var text: String {
        var bytes = Data([Self.format])
        for number in [UInt64(bitPattern: position.ticks), UInt64(bitPattern: base.ticks), fingerprint] {
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }
        bytes.append(point.bytes)
        return Base64.addressText(bytes)
    }

    /// Reads a token.
    ///
    /// - Throws: ``Refusal``: 400 for an invalid token, 410 for one of an earlier version.
    init(_ text: String) throws(Refusal) {
        let decoded = text.utf8.count < 100 ? Base64.bytes(text).map { Data($0) } : nil
        if decoded?.count == 25, decoded?.first == 1 { throw Self.gone("the token was given by an earlier version") }
        guard let bytes = decoded, bytes.count == 37, bytes.first == Self.format else {
            throw Refusal(.badRequest, "$deltatoken is no token of this server")
        }
        func number(_ first: Int, _ count: Int) -> UInt64 {
            bytes.dropFirst(first).prefix(count).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        }
        self.init(
            position: Timestamp(ticks: Int64(bitPattern: number(1, 8))),
            base: Timestamp(ticks: Int64(bitPattern: number(9, 8))), fingerprint: number(17, 8),
            point: HistoryPoint(
                epoch: UInt32(truncatingIfNeeded: number(25, 4)), number: Int64(bitPattern: number(29, 8))))
    }

    /// Refuses a token for another purpose, from a lost history of the database, or from before a change without a
    /// trace.
    ///
    /// - Throws: ``Refusal`` (410): the client starts over.
    func check(_ fingerprint: UInt64, _ changes: BackendCatalog.Changes, isInHistory: Bool) throws(Refusal) {
        guard fingerprint == self.fingerprint else {
            throw Self.gone("the token was given for another table, filter, user or database")
        }
        guard isInHistory, max(position, base) <= changes.latest else {
            throw Self.gone("the token was given after changes that the database has lost")
        }
        guard max(position, base) >= changes.removed else {
            throw Self.gone("records have been removed for good since the token was given")
        }
    }

    static func gone(_ reason: String) -> Refusal { Refusal(.gone, "\(reason); begin afresh, without a token") }
}
