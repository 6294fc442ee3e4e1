internal import Sluice
internal import Tracing

/// The identifiers of a span and its trace, as in W3C Trace Context and OTLP.
struct TraceContext: Sendable, Hashable {
    /// 16 bytes in hexadecimal digits.
    let trace: String
    /// 8 bytes in hexadecimal digits.
    let span: String

    /// Creates a span of the parent's trace, or the first of a new trace.
    init(child parent: TraceContext?) {
        trace = parent?.trace ?? Self.chance(2)
        span = Self.chance(1)
    }

    /// Reads a `traceparent` field (W3C Trace Context, section 3.2); nil if it is not valid.
    init?(parent text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, Self.isDigits(parts[0], 2), parts[0] != "ff", Self.isDigits(parts[1], 32),
            Self.isDigits(parts[2], 16), Self.isDigits(parts[3], 2), parts[1].contains(where: { $0 != "0" }),
            parts[2].contains(where: { $0 != "0" })
        else { return nil }
        (trace, span) = (String(parts[1]), String(parts[2]))
    }

    /// The value of the `traceparent` field, with the sampled flag.
    var parent: String { "00-\(trace)-\(span)-01" }

    private static func isDigits(_ text: Substring, _ count: Int) -> Bool {
        text.utf8.count == count
            && text.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }

    private static func chance(_ words: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<words).map { _ in
            // An identifier of zeros alone is not valid.
            let text = String(UInt64.random(in: 1 ... .max, using: &generator), radix: 16)
            return String(repeating: "0", count: 16 - text.utf8.count) + text
        }.joined()
    }

    enum Key: ServiceContextKey {
        typealias Value = TraceContext
        static var nameOverride: String? { "sluice-trace" }
    }
}
