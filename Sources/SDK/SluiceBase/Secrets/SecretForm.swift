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
