internal import Foundation
internal import HTTPTypes
internal import SluiceCore

/// How far somebody has heard of a table's changes. It opens nothing: what a request may see is decided anew each time.
/// The fingerprint only keeps it from being used where it would leave something out.
struct ChangeToken: Sendable, Hashable {
    /// The last change that was told.
    var position: Timestamp
    /// See ``ChangeQuery/base``.
    var base: Timestamp
    /// What it was given for: database, table, filter, view and user.
    var fingerprint: UInt64
    /// The point of the database's history at which it was given. A database that was restored may not have it.
    var point: HistoryPoint

    private static let format: UInt8 = 2

    init(position: Timestamp, base: Timestamp, fingerprint: UInt64, point: HistoryPoint) {
        self.position = position
        self.base = base
        self.fingerprint = fingerprint
        self.point = point
    }

    /// The token as clients keep it.
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
    /// - Throws: ``Refusal``: 400 for what is no token, 410 for one of an earlier version.
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

    /// Refuses a token that was given for something else, one from a history that the database has lost, and one from
    /// before a change of which nothing is left.
    ///
    /// - Throws: ``Refusal`` (410): the client begins afresh.
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
