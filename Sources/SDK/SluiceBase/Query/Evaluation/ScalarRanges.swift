/// A set of Unicode scalars, as sorted ranges with gaps between them.
package struct ScalarRanges: Sendable, Hashable {
    private(set) var ranges: [ClosedRange<UInt32>] = []

    init() {}

    init(_ ranges: [ClosedRange<UInt32>]) { for range in ranges { insert(range) } }

    static let digits = ScalarRanges([0x30...0x39])
    package static let word = ScalarRanges([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    /// White space and line ends, by ECMAScript's definition.
    static let space = ScalarRanges([
        0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029, 0x202F...0x202F,
        0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
    ])
    /// The characters that `.` matches: all but line ends.
    static let dot = ScalarRanges([0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029]).inverted

    mutating func insert(_ range: ClosedRange<UInt32>) {
        var merged = range
        var others: [ClosedRange<UInt32>] = []
        for other in ranges {
            if other.upperBound &+ 1 < merged.lowerBound || merged.upperBound &+ 1 < other.lowerBound {
                others.append(other)
            } else {
                merged = min(merged.lowerBound, other.lowerBound)...max(merged.upperBound, other.upperBound)
            }
        }
        others.append(merged)
        ranges = others.sorted { $0.lowerBound < $1.lowerBound }
    }

    mutating func formUnion(_ other: ScalarRanges) { for range in other.ranges { insert(range) } }

    /// All scalars outside of the set.
    var inverted: ScalarRanges {
        var result: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges {
            if range.lowerBound > next { result.append(next...range.lowerBound - 1) }
            next = range.upperBound + 1
        }
        if next <= 0x10FFFF { result.append(next...0x10FFFF) }
        return ScalarRanges(result)
    }

    package func contains(_ scalar: UInt32) -> Bool {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < scalar { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(scalar)
    }
}
