/// A text that repeats a secret or a part of it. A server, a script or a log can produce each in one step.
package struct SecretForm: Sendable, Hashable {
    /// The shortest encoded text that is found in any case and with escapes: shorter ones occur in ordinary texts.
    private static let shortestRead = 8

    /// The text, in lower case.
    let bytes: [UInt8]
    /// Whether it is in base64 or hexadecimal.
    var isEncoded = false
    /// Whether any longer piece of it has to be hidden, and not only its beginning.
    var hidesPieces = false
    /// Whether it is found only as it is, without escapes in it.
    var isExact = false

    /// Returns a secret's forms: as it is, reversed, in hexadecimal, in base64, in an address, and in a JSON text.
    ///
    /// - Parameters:
    ///   - hidesPieces: whether longer pieces of the secret have to be hidden as well.
    ///   - shortestDigits: the smallest number of base64 digits that are searched for.
    package static func all(of secret: [UInt8], hidesPieces: Bool, shortestDigits: Int) -> [SecretForm] {
        var forms: [SecretForm] = []
        func add(_ bytes: [UInt8], isEncoded: Bool = false, isExact: Bool = false) {
            let bytes = bytes.map(EscapedBytes.folded)
            let isKnown = forms.contains { $0.bytes == bytes && (!$0.isExact || isExact) }
            guard bytes.count > 1, !isKnown else { return }
            forms.append(
                SecretForm(bytes: bytes, isEncoded: isEncoded, hidesPieces: hidesPieces && !isExact, isExact: isExact))
        }
        add(secret)
        add(secret.reversed())
        add(Array(Base16.text(secret).utf8), isEncoded: true)
        for skipped in 0..<3 {
            let digits = Base64.inner(secret, after: skipped)
            guard digits.count >= shortestDigits else { continue }
            for digits in [digits, digits.map(Base64.addressDigit)] {
                add(digits, isEncoded: true, isExact: digits.count < shortestRead)
            }
        }
        // A secret with escapes of its own is not found by reading the escapes around it.
        add(percent(secret, space: nil), isExact: true)
        add(percent(secret, space: UInt8(ascii: "+")), isExact: true)
        let text = JSON(String(decoding: secret, as: UTF8.self))
        add(Array(text.bytes().dropFirst().dropLast()), isExact: true)
        return forms
    }

    /// Percent-encodes every byte except letters, digits and `-._~`.
    private static func percent(_ secret: [UInt8], space: UInt8?) -> [UInt8] {
        secret.flatMap { byte -> [UInt8] in
            let isLetter = (byte | 0x20) &- 0x61 < 26
            if isLetter || byte &- 0x30 < 10 || "-._~".utf8.contains(byte) { return [byte] }
            if let space, byte == UInt8(ascii: " ") { return [space] }
            return [UInt8(ascii: "%"), Base16.digit(byte >> 4), Base16.digit(byte & 15)]
        }
    }
}

/// Reads a text's bytes in lower case, with the escapes of URLs, JSON and HTML resolved.
struct EscapedBytes {
    private let text: UnsafeBufferPointer<UInt8>
    /// The index after the last byte that was read.
    private(set) var index: Int
    /// The unread bytes of an escaped character.
    private var waiting: [UInt8] = []

    init(_ text: UnsafeBufferPointer<UInt8>, at index: Int) {
        self.text = text
        self.index = index
    }

    /// Whether the last escape has been read whole.
    var isAtBoundary: Bool { waiting.isEmpty }

    /// Returns the next byte; nil at the end.
    mutating func next() -> UInt8? {
        if !waiting.isEmpty { return waiting.removeFirst() }
        guard index < text.count else { return nil }
        let byte = text[index]
        switch byte {
        case UInt8(ascii: "%"): return Self.folded(percentEncoded())
        case UInt8(ascii: "\\"): return escapedInJSON()
        case UInt8(ascii: "&"): return escapedInHTML()
        default:
            index += 1
            return Self.folded(byte)
        }
    }

    /// Skips spaces and line ends, literal or as JSON escapes, and returns whether there were any.
    mutating func skipSpaces(_ most: Int) -> Bool {
        guard waiting.isEmpty else { return false }
        let start = index
        for _ in 0..<most {
            guard index < text.count else { break }
            let byte = text[index]
            if byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte) {
                index += 1
            } else if byte == UInt8(ascii: "\\"), index + 1 < text.count, "nrt".utf8.contains(text[index + 1]) {
                index += 2
            } else {
                break
            }
        }
        return index > start
    }

    /// Returns an ASCII letter in lower case, any other byte unchanged.
    static func folded(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// Reads `%2B`, or `%252B` for a text that was encoded twice.
    private mutating func percentEncoded() -> UInt8 {
        var byte = UInt8(ascii: "%")
        index += 1
        while byte == UInt8(ascii: "%"), let decoded = number(index, digits: 2) {
            byte = UInt8(truncatingIfNeeded: decoded)
            index += 2
        }
        return byte
    }

    /// Reads `\u002B`, `\/` and similar escapes.
    private mutating func escapedInJSON() -> UInt8? {
        index += 1
        guard index < text.count else { return UInt8(ascii: "\\") }
        let byte = text[index]
        if byte == UInt8(ascii: "u"), let value = number(index + 1, digits: 4), let scalar = Unicode.Scalar(value) {
            index += 5
            return begin(scalar)
        }
        guard "\"\\/".utf8.contains(byte) else { return UInt8(ascii: "\\") }
        index += 1
        return byte
    }

    /// Reads `&#x2B;`, `&#43;` and `&amp;`.
    private mutating func escapedInHTML() -> UInt8? {
        let end = text[index...].prefix(10).firstIndex(of: UInt8(ascii: ";"))
        if let end {
            let name = String(decoding: text[index + 1..<end], as: UTF8.self).lowercased()
            let value =
                name.hasPrefix("#x")
                ? UInt32(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
            let named = ["amp": "&", "quot": "\"", "lt": "<", "gt": ">", "apos": "'"] as [String: Unicode.Scalar]
            if let scalar = value.flatMap({ Unicode.Scalar($0) }) ?? named[name] {
                index = end + 1
                return begin(scalar)
            }
        }
        index += 1
        return UInt8(ascii: "&")
    }

    private mutating func begin(_ scalar: Unicode.Scalar) -> UInt8? {
        waiting = Array(String(Character(scalar)).utf8)
        return Self.folded(waiting.removeFirst())
    }

    private func number(_ start: Int, digits: Int) -> UInt32? {
        guard start + digits <= text.count else { return nil }
        var value: UInt32 = 0
        for byte in text[start..<start + digits] {
            guard let digit = Base16.value(of: byte) else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
