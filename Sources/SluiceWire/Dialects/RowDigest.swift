package import SluiceBase

/// A digest of a set of records, by their ids and versions: equal sets have equal digests, and the digests of two
/// disjoint sets add up to that of both.
///
/// A record's share is the 64-bit FNV-1a hash of its id, a NUL and its version, in UTF-8, with its bits spread by the
/// last step of MurmurHash3; the digest is the sum of the shares modulo 2⁶⁴. Without that step the shares of records
/// whose versions differ in the last letter alone differ by small numbers, which cancel each other out. It finds
/// differences that nobody makes on purpose.
package struct RowDigest: Sendable, Hashable {
    /// How many records there are.
    package private(set) var count: Int
    /// The sum of their shares.
    package private(set) var sum: UInt64

    /// That of so many records with that sum; without them, that of none.
    package init(count: Int = 0, sum: UInt64 = 0) {
        self.count = count
        self.sum = sum
    }

    /// Adds a record.
    package mutating func add(id: RecordID, version: String?) {
        count += 1
        sum &+= FNV1a.spread(
            FNV1a.hash((version ?? "").utf8, after: FNV1a.hash([0], after: FNV1a.hash(id.text.utf8))))
    }

    /// The sum in 16 hexadecimal digits, in small letters.
    package var text: String {
        let digits = String(sum, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
