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

    /// What a hexadecimal digit stands for.
    static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to place: UnsafeMutableRawBufferPointer, at start: Int) {
        for (index, byte) in bytes.enumerated() {
            place[start + 2 * index] = digit(byte >> 4)
            place[start + 2 * index + 1] = digit(byte & 0xF)
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
