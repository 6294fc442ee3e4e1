internal import SluiceBase
internal import SluiceWire

/// Whether a server sorts by id.
enum IDOrder {
    /// Whether the ids ascend, none twice, in the order of their bytes or in one that ignores case.
    ///
    /// A server's database has an order of its own. Ids accepted here are safe to follow; others are read in a way that
    /// needs no order.
    static func isAscending(_ ids: [RecordID]) -> Bool {
        let pairs = zip(ids, ids.dropFirst())
        return pairs.allSatisfy { $0 < $1 }
            || pairs.allSatisfy { folded($0).lexicographicallyPrecedes(folded($1)) }
    }

    /// Whether all orders in use sort those ids alike, because they have one shape, such as UUIDs: equal lengths, and
    /// ASCII letters of one case or digits where they differ. A server may sort and compare other ids in different
    /// orders.
    static func isUniform(_ ids: some Collection<RecordID>) -> Bool {
        guard let first = ids.first?.text.utf8 else { return true }
        var cases: Set<UInt8> = []
        for id in ids {
            guard id.text.utf8.count == first.count else { return false }
            for (one, other) in zip(first, id.text.utf8) where one != other {
                for byte in [one, other] where !(0x30...0x39).contains(byte) {
                    guard (0x41...0x5A).contains(byte & 0xDF) else { return false }
                    cases.insert(byte & 0x20)
                }
            }
        }
        return cases.count < 2
    }

    /// Whether the id looks generated: 32 hexadecimal digits in one case, and perhaps hyphens. Tables with such ids
    /// usually have no others.
    static func isGenerated(_ id: RecordID) -> Bool {
        let digits = id.text.utf8.filter { $0 != 0x2D }
        guard digits.count == 32, id.text.utf8.count <= 36 else { return false }
        return digits.allSatisfy { $0 &- 0x30 < 10 || $0 &- 0x61 < 6 }
            || digits.allSatisfy { $0 &- 0x30 < 10 || $0 &- 0x41 < 6 }
    }

    private static func folded(_ id: RecordID) -> [UInt8] {
        id.text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }
}
