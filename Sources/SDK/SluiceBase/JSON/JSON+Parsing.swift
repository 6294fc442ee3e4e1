internal import CJansson

extension JSON {
    /// Reads a value from UTF-8 text.
    ///
    /// - Throws: ``JSON.ParseError`` with line, column and offset; nothing is repaired or guessed.
    public init(parsing text: some Sequence<UInt8>) throws(JSON.ParseError) {
        try self.init(parsing: text, maximumValues: .max)
    }

    /// Reads a value from UTF-8 text, with limits for the number of names and values, and for the nesting.
    package init(
        parsing text: some Sequence<UInt8>, maximumValues: Int, maximumDepth: Int = JSON.maximumDepth
    ) throws(JSON.ParseError) {
        let parsed: Result<JSON, JSON.ParseError>?
        parsed = text.withContiguousStorageIfAvailable { Self.parse($0, maximumValues, maximumDepth) }
        switch parsed {
        case .some(let result): self = try result.get()
        case .none:
            self = try Array(text).withUnsafeBufferPointer { Self.parse($0, maximumValues, maximumDepth) }.get()
        }
    }

    /// Reads a value from a string.
    ///
    /// - Throws: ``JSON.ParseError`` with line, column and offset.
    public init(parsing text: String) throws(JSON.ParseError) {
        try self.init(parsing: Array(text.utf8))
    }

    private static func parse(
        _ buffer: UnsafeBufferPointer<UInt8>, _ maximumValues: Int, _ maximumDepth: Int
    ) -> Result<JSON, JSON.ParseError> {
        do throws(JSON.ParseError) {
            let tape = try JSONTape(buffer, maximumValues: maximumValues, maximumDepth: maximumDepth)
            return .success(JSON(tape, at: 0, in: buffer))
        } catch {
            return .failure(error)
        }
    }

    /// Builds the tree of the value with its token at `index`.
    package init(_ tape: JSONTape, at index: Int, in bytes: UnsafeBufferPointer<UInt8>) {
        self.init(JSONHandle(owning: tape.value(at: index, in: bytes)))
    }
}

extension JSONTape {
    /// Returns the value with its token at `index`, as a new jansson value.
    func value(at index: Int, in bytes: UnsafeBufferPointer<UInt8>) -> UnsafeMutablePointer<json_t>? {
        tokens.withUnsafeBufferPointer { tokens in
            var builder = JSONTreeBuilder(tokens: tokens, bytes: bytes, index: index)
            return builder.build()
        }
    }
}

/// Turns tokens into jansson values.
struct JSONTreeBuilder {
    let tokens: UnsafeBufferPointer<JSONTape.Token>
    let bytes: UnsafeBufferPointer<UInt8>
    var index: Int

    mutating func build() -> UnsafeMutablePointer<json_t>? {
        let token = tokens[index]
        index += 1
        switch token.kind {
        case .null, .deep: return json_null()
        case .bool: return token.flag ? json_true() : json_false()
        case .number:
            return JSONHandle.value(
                of: JSON.Number(valid: source(token), hasFraction: token.flag))
        case .string, .key:
            return withText(token) { json_stringn_nocheck($0, $1) }
        case .array:
            let array = json_array()
            while index < Int(token.next) { json_array_append_new(array, build()) }
            return array
        case .object:
            let object = json_object()
            while index < Int(token.next) {
                let key = tokens[index]
                index += 1
                let member = build()
                withText(key) { _ = json_object_setn_new_nocheck(object, $0, $1, member) }
            }
            return object
        }
    }

    private func withText<Result>(_ token: JSONTape.Token, _ body: (UnsafePointer<CChar>?, Int) -> Result) -> Result {
        if token.flag {
            var text = JSONEscape.decode(source(token))
            return text.withUTF8 { decoded in
                decoded.withMemoryRebound(to: CChar.self) { body($0.baseAddress ?? sluice_json_nul(), $0.count) }
            }
        }
        return source(token).withMemoryRebound(to: CChar.self) {
            body($0.baseAddress ?? sluice_json_nul(), $0.count)
        }
    }

    private func source(_ token: JSONTape.Token) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[Int(token.start)..<Int(token.end)])
    }
}

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
