#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Measures by how much the process grows, as the kernel of Linux tells it. Other work in the process counts in.
struct MemoryMeter {
    private let start: Int

    /// Begins to measure; nil where the system does not tell.
    init?() {
        // Sets the peak back to what is held now: proc(5), clear_refs.
        guard let file = fopen("/proc/self/clear_refs", "w") else { return nil }
        let isSet = fputs("5", file) >= 0
        guard fclose(file) == 0, isSet, let peak = Self.peak else { return nil }
        start = peak
    }

    /// By how many bytes the resident memory has grown at the most.
    var growth: Int? { Self.peak.map { max(0, $0 - start) } }

    private static var peak: Int? {
        guard let file = fopen("/proc/self/status", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix("VmHWM:") { return Int(text.filter(\.isNumber)).map { $0 * 1024 } }
        }
        return nil
    }
}
