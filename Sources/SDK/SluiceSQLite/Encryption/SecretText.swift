internal import SluiceCore

/// Secrets as hexadecimal digits.
enum SecretText {
    /// Two digits for each byte.
    static func hexadecimal(_ bytes: SecretBytes) throws -> SecretBytes {
        try SecretBytes(count: 2 * bytes.count) { place in
            bytes.withBytes { write($0, to: place, at: 0) }
        }
    }

    /// The literal that SQLCipher takes for a key that it is not to derive first, with the salt of the file after it
    /// where that is not to be its own choice.
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
