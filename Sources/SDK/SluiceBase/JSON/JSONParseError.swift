/// Why a text is not JSON that Sluice accepts, and where.
///
/// Sluice's rules are RFC 8259 with the choices the RFC leaves open made strictly: a repeated member name, invalid
/// UTF-8, text after the value, a lone surrogate escape, and nesting deeper than ``JSON/maximumDepth`` are refused.
public struct JSONParseError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was wrong, as a phrase: `repeated member name "id"`.
    public let reason: String
    /// The line, counted from 1.
    public let line: Int
    /// The column in that line, in characters (Unicode scalars), counted from 1.
    public let column: Int
    /// The byte at which reading stopped, counted from 0.
    public let offset: Int
    /// Whether the text may be JSON, but has more values than its reader takes.
    package let isTooLarge: Bool

    init(reason: String, offset: Int, in bytes: UnsafeBufferPointer<UInt8>, isTooLarge: Bool = false) {
        self.isTooLarge = isTooLarge
        var line = 1
        var column = 1
        for byte in bytes.prefix(offset) {
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        self.reason = reason
        self.line = line
        self.column = column
        self.offset = offset
    }

    /// The reason and the place, as one line.
    public var description: String {
        "not valid JSON: \(reason) (line \(line), column \(column), offset \(offset))"
    }
}
