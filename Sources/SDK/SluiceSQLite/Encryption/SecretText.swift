internal import SluiceCore

/// Secrets as hexadecimal digits.
enum SecretText {
    /// Returns two digits for each byte.
    static func hexadecimal(_ bytes: SecretBytes) throws -> SecretBytes {
        try SecretBytes(count: 2 * bytes.count) { place in
            bytes.withBytes { write($0, to: place, at: 0) }
        }
    }

    /// Returns the literal of a key that SQLCipher must not derive again. The salt of the file follows it, unless
    /// SQLCipher is to choose one.
    static func keyLiteral(_ key: SecretBytes, salt: [UInt8] = []) throws -> SecretBytes {
        try SecretBytes(count: 3 + 2 * (key.count + salt.count)) { place in
            place[0] = UInt8(ascii: "x")
            place[1] = UInt8(ascii: "'")
            key.withBytes { write($0, to: place, at: 2) }
            salt.withUnsafeBytes { write($0, to: place, at: 2 + 2 * key.count) }
            place[place.count - 1] = UInt8(ascii: "'")
        }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to place: UnsafeMutableRawBufferPointer, at start: Int) {
        for (index, byte) in bytes.enumerated() {
            place[start + 2 * index] = Base16.digit(byte >> 4)
            place[start + 2 * index + 1] = Base16.digit(byte & 0xF)
        }
    }
}
