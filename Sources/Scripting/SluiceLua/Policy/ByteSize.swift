/// A size in a policy: a number of bytes, or one with `KiB` or `MiB` after it.
enum ByteSize {
    private static let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("", 1)]

    /// Returns the bytes; nil if the text is no size.
    static func bytes(_ text: String) -> Int? {
        guard let (unit, factor) = units.first(where: { text.hasSuffix($0.0) }),
            let count = Int(text.dropLast(unit.count)), count >= 0
        else { return nil }
        let (bytes, overflows) = count.multipliedReportingOverflow(by: factor)
        return overflows ? nil : bytes
    }
}
