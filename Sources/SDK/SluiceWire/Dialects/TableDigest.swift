internal import HTTPTypes
package import SluiceBase

/// A summary of a table's content at one time. It has the number of rows and a sum over their ids and versions
/// (``RowDigest``), in all and by ranges of ids. The ranges follow the binary order of the ids' UTF-8.
package struct TableDigest: Sendable, Hashable {
    /// The rows whose ids are in `from...to`.
    package struct Range: Sendable, Hashable {
        package var from: RecordID
        package var to: RecordID
        package var sum: RowDigest
    }

    package var sum: RowDigest
    package var ranges: [Range]

    /// Reads a server's answer; nil for anything else.
    package init?(_ answer: JSON) {
        func sum(_ object: JSON) -> RowDigest? {
            guard let count = object["count"]?.int, count >= 0, let text = object["digest"]?.string,
                let sum = UInt64(text, radix: 16)
            else { return nil }
            return RowDigest(count: Int(count), sum: sum)
        }
        guard answer["error"]?.isNull ?? true, let whole = sum(answer), let list = answer["ranges"]?.elements else {
            return nil
        }
        var ranges: [Range] = []
        for item in list {
            guard let from = item["from"]?.textID, let to = item["to"]?.textID, let part = sum(item) else { return nil }
            ranges.append(Range(from: from, to: to, sum: part))
        }
        self.sum = whole
        self.ranges = ranges
    }

    /// The maximum number of ranges that is accepted.
    private static let mostRanges = 1024

    /// Whether the ranges can split a table: they are in order without overlaps, and all inside the requested one.
    package func isOrdered(within range: Range?) -> Bool {
        guard ranges.count <= Self.mostRanges, !ranges.contains(where: { $0.to < $0.from }),
            zip(ranges, ranges.dropFirst()).allSatisfy({ $0.to < $1.from })
        else { return false }
        guard let range, let first = ranges.first, let last = ranges.last else { return true }
        return first.from >= range.from && last.to <= range.to
    }
}

extension Dialect {
    /// Returns the request for the digest of a query's rows, or of its rows with ids in a range.
    package func digest(
        table: String, query: TableQuery, range: TableDigest.Range? = nil, endpoint: Endpoint
    ) throws(SluiceError) -> SyncRequest {
        var request = try list(table: table, query: query, endpoint: endpoint)
        let parts = (request.head.path ?? "").split(separator: "?", maxSplits: 1)
        var address = QueryString(ofPath: "\(parts.first ?? "")/$digest" + (parts.count > 1 ? "?\(parts[1])" : ""))
        if let range {
            address["from"] = range.from.text
            address["to"] = range.to.text
        }
        request.head.path = address.path
        request.context.paging = Paging()
        return request
    }
}

/// A digest of a set of records, by their ids and versions. Equal sets have equal digests, and the digests of two
/// disjoint sets add up to the digest of their union.
///
/// A record's share is the 64-bit FNV-1a hash of its id, a NUL and its version, in UTF-8, with its bits spread by the
/// last step of MurmurHash3. The digest is the sum of the shares modulo 2⁶⁴. Without that step the shares of records
/// whose versions differ only in the last letter differ by small numbers, which cancel each other out. The digest
/// finds differences unless they are made on purpose.
package struct RowDigest: Sendable, Hashable {
    /// The number of records.
    package private(set) var count: Int
    /// The sum of their shares.
    package private(set) var sum: UInt64

    /// A digest by its number of records and their sum; by default the one of an empty set.
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
