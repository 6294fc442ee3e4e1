internal import Foundation

/// A record's version: base64 of a number of 8 bytes, the highest first, as SQL Server's rowversion looks on the wire.
enum RecordVersion {
    static func text(_ number: Int64) -> String {
        withUnsafeBytes(of: number.bigEndian) { Data($0).base64EncodedString() }
    }
}
