internal import SluiceCore

/// A digest of a set of records, by their ids and versions: equal sets have equal digests, and the digests of two
/// disjoint sets add up to that of both.
///
/// A record's share is the 64-bit FNV-1a hash of its id, a NUL and its version, in UTF-8; the digest is the sum of the
/// shares modulo 2⁶⁴. It finds differences that nobody makes on purpose.
struct RowDigest: Sendable, Hashable {
    /// How many records there are.
    private(set) var count = 0
    /// The sum of their shares.
    private(set) var sum: UInt64 = 0

    /// Adds a record.
    mutating func add(id: String, version: String) {
        count += 1
        sum &+= FNV1a.hash(version.utf8, behind: FNV1a.hash([0], behind: FNV1a.hash(id.utf8)))
    }

    /// The sum in 16 hexadecimal digits, in small letters.
    var text: String {
        let digits = String(sum, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
