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

    private static let format: UInt8 = 1

    init(position: Timestamp, base: Timestamp, fingerprint: UInt64) {
        self.position = position
        self.base = base
        self.fingerprint = fingerprint
    }

    /// The token as clients keep it.
    var text: String {
        var bytes = Data([Self.format])
        for number in [UInt64(bitPattern: position.ticks), UInt64(bitPattern: base.ticks), fingerprint] {
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Reads a token.
    ///
    /// - Throws: ``Refusal`` (400) for what is none.
    init(_ text: String) throws(Refusal) {
        let padded =
            text.replacing("-", with: "+").replacing("_", with: "/")
            + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard text.utf8.count < 100, let bytes = Data(base64Encoded: padded), bytes.count == 25,
            bytes.first == Self.format
        else { throw Refusal(.badRequest, "$deltatoken is no token of this server") }
        let numbers = (0..<3).map { index in
            bytes.dropFirst(1 + index * 8).prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        }
        self.init(
            position: Timestamp(ticks: Int64(bitPattern: numbers[0])),
            base: Timestamp(ticks: Int64(bitPattern: numbers[1])), fingerprint: numbers[2])
    }

    /// Refuses a token that was given for something else, and one from before a change of which nothing is left.
    ///
    /// - Throws: ``Refusal`` (410): the client begins afresh.
    func check(_ fingerprint: UInt64, _ changes: BackendCatalog.Changes) throws(Refusal) {
        guard fingerprint == self.fingerprint, max(position, base) <= changes.latest else {
            throw Self.gone("the token was given for another table, filter, user or database")
        }
        guard max(position, base) >= changes.removed else {
            throw Self.gone("records have been removed for good since the token was given")
        }
    }

    static func gone(_ reason: String) -> Refusal { Refusal(.gone, "\(reason); begin afresh, without a token") }
}
