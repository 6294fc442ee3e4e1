package import SluiceBase
internal import SluiceWire

/// Whether a server sorts by id.
package enum IDOrder {
    /// Whether the ids ascend, none twice, in the order of their bytes or in one that does not look at the case of
    /// letters.
    ///
    /// A server's database has an order of its own. What this takes for sorted is safe to follow; what it does not is
    /// read in a way that needs no order.
    package static func isAscending(_ ids: [RecordID]) -> Bool {
        let pairs = zip(ids, ids.dropFirst())
        return pairs.allSatisfy { $0 < $1 }
            || pairs.allSatisfy { folded($0).lexicographicallyPrecedes(folded($1)) }
    }

    private static func folded(_ id: RecordID) -> [UInt8] {
        id.text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }
}
