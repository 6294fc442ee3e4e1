/// A JSON text read once: its tokens in source order, as offsets into the bytes.
///
/// The tape has two consumers: ``JSON`` builds its tree from it, and a page's rows are bound into SQL statements
/// directly from it. So there is one parser with one set of rules.
package struct JSONTape: Sendable {
    package enum Kind: UInt8, Sendable {
        case null, bool, number, string, key, array, object
        /// A container below the nesting limit, without its contents.
        case deep
    }

    /// One value, or one member name (`key`, followed by its value).
    package struct Token: Sendable {
        package var kind: Kind
        /// For a string or key: it has escapes. For a number: it has a fraction or an exponent. For a bool: it is true.
        package var flag: Bool
        /// The value's first byte; for a string or key the first byte after the quote.
        package var start: UInt32
        /// One after the value's last byte; for a string or key the closing quote.
        package var end: UInt32
        /// The index of the first token after this value and its contents.
        package var next: UInt32
    }

    package var tokens: ContiguousArray<Token>
    /// The deepest nesting of the text; one more than the limit where deeper values were skipped.
    package let deepest: Int

    /// Reads all of `bytes`.
    ///
    /// - Parameters:
    ///   - maximumValues: the largest number of names and values. Each takes 20 bytes on the tape, and may take only
    ///     two in the text.
    ///   - maximumDepth: the largest number of nested levels.
    package init(
        _ bytes: UnsafeBufferPointer<UInt8>, maximumValues: Int = .max, maximumDepth: Int = JSON.maximumDepth
    ) throws(JSON.ParseError) {
        var none: [JSONFault]?
        try self.init(bytes, maximumValues: maximumValues, maximumDepth: maximumDepth, faults: &none)
    }

    /// Reads all of `bytes`.
    ///
    /// - Parameter faults: nil for a strict reading. Otherwise a value beyond the nesting limit becomes one token of kind
    ///   `deep`, and the reading goes on after a ``JSONFault``, which is added.
    init(
        _ bytes: UnsafeBufferPointer<UInt8>, maximumValues: Int = .max, maximumDepth: Int = JSON.maximumDepth,
        faults: inout [JSONFault]?
    ) throws(JSON.ParseError) {
        guard bytes.count < Int(UInt32.max) else {
            throw JSON.ParseError(
                reason: "text longer than 4 GiB", offset: 0, in: UnsafeBufferPointer(rebasing: bytes[..<0]))
        }
        var reader = JSONTapeReader(
            bytes, maximumValues: maximumValues, maximumDepth: maximumDepth, isLenient: faults != nil)
        try reader.readDocument()
        tokens = reader.tokens
        deepest = reader.deepest
        faults? += reader.faults
    }

    /// Returns the text of a string or key token.
    package func text(_ token: Token, in bytes: UnsafeBufferPointer<UInt8>) -> String {
        let slice = UnsafeBufferPointer(rebasing: bytes[Int(token.start)..<Int(token.end)])
        return token.flag ? JSONEscape.decode(slice) : String(decoding: slice, as: UTF8.self)
    }

    /// Returns the bytes of a token in the source.
    package func bytes(
        _ token: Token, in bytes: UnsafeBufferPointer<UInt8>
    ) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[Int(token.start)..<Int(token.end)])
    }
}
