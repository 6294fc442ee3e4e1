extension JSON {
    /// The reason and the position at which a text is not acceptable JSON.
    ///
    /// Sluice follows RFC 8259 and is strict where the RFC leaves a choice: a repeated member name, invalid UTF-8, text
    /// after the value, a lone surrogate escape, and nesting deeper than ``JSON/maximumDepth`` are refused.
    public struct ParseError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The reason, as a phrase: `repeated member name "id"`.
        public let reason: String
        /// The line, counted from 1.
        public let line: Int
        /// The column in that line, in characters (Unicode scalars), counted from 1.
        public let column: Int
        /// The byte at which reading stopped, counted from 0.
        public let offset: Int
        /// Whether the text may be JSON, but has more values than the reader allows.
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
}
