/// A size as a policy has it: a number of bytes, or with `KiB` or `MiB` after it.
enum ByteSize {
    private static let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("", 1)]

    /// The bytes; nil for what is no size.
    static func bytes(_ text: String) -> Int? {
        guard let (unit, factor) = units.first(where: { text.hasSuffix($0.0) }),
            let count = Int(text.dropLast(unit.count)), count >= 0
        else { return nil }
        let (bytes, overflows) = count.multipliedReportingOverflow(by: factor)
        return overflows ? nil : bytes
    }
}
