internal import SluiceCore

/// The forms in which a secret can turn up in a text: what a script, or a server that sends it back, can make of it
/// with one step.
enum SecretForms {
    /// The shortest form that is looked for, in bytes.
    static let shortest = 4

    /// The secret as it is, reversed, in hexadecimal digits, in base64, in an address, and in a JSON text.
    static func all(of secret: [UInt8]) -> [[UInt8]] {
        var forms = [secret, secret.reversed()]
        let digits = Array(Base16.text(secret).utf8)
        forms += [digits, Array(Base16.text(secret).uppercased().utf8)]
        for offset in 0..<3 {
            let text = Base64.inner(secret, after: offset)
            forms += [text, text.map(Base64.addressDigit)]
        }
        for alphabet in ["0123456789ABCDEF", "0123456789abcdef"] {
            forms += [percent(secret, alphabet, space: nil), percent(secret, alphabet, space: UInt8(ascii: "+"))]
        }
        let text = String(decoding: secret, as: UTF8.self)
        forms.append(Array(JSON(text).bytes().dropFirst().dropLast()))
        return forms.filter { $0.count >= shortest }
    }

    /// With everything encoded that is neither a letter nor a digit nor one of `-._~`.
    private static func percent(_ secret: [UInt8], _ digits: String, space: UInt8?) -> [UInt8] {
        let digits = Array(digits.utf8)
        return secret.flatMap { byte -> [UInt8] in
            let isLetter = (byte | 0x20) &- 0x61 < 26
            if isLetter || byte &- 0x30 < 10 || Array("-._~".utf8).contains(byte) { return [byte] }
            if let space, byte == UInt8(ascii: " ") { return [space] }
            return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
}
