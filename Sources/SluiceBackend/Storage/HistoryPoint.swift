internal import Foundation

/// A point in a database's history: a change, by its number and the epoch of the run that made it.
///
/// A run begins whenever the database is opened, with an epoch drawn by chance. The numbers go on from run to run. After
/// a backup was restored the same numbers are given out again, but in a run with another epoch, so no point is ever
/// given out twice. A point that this database does not have is one of a history that it has lost.
struct HistoryPoint: Sendable, Hashable {
    /// The epoch of the run.
    var epoch: UInt32
    /// How many changes and ids the database had given a number to.
    var number: Int64

    /// The point's 12 bytes, the highest first.
    var bytes: Data {
        var bytes = Data()
        withUnsafeBytes(of: epoch.bigEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }

    /// The version of a record that was changed at this point: base64 of ``bytes``, alike to SQL Server's rowversion.
    var version: String { bytes.base64EncodedString() }
}
