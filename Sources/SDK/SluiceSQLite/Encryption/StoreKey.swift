internal import SluiceCore

/// A key of 32 bytes, for a store that is encrypted with it and nothing else.
///
/// It is kept on memory of its own and wiped when the last copy of this value is gone. What it was made of, an array
/// say, is its maker's to wipe. No description and no dump shows it.
///
/// ```swift
/// let key = try StoreKey(file: "/run/credentials/sync/key")
/// let store = try SQLiteStore(path: "todos.db", encryption: .key(key))
/// ```
public struct StoreKey: Sendable {
    /// How many bytes a key has.
    public static let byteCount = 32

    let bytes: SecretBytes

    /// A key of those bytes.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` unless they are 32.
    public init(_ bytes: some Collection<UInt8>) throws {
        guard bytes.count == Self.byteCount else {
            throw SluiceError(.invalidArgument, "a key has \(Self.byteCount) bytes, and this one \(bytes.count)")
        }
        self.bytes = try SecretBytes(bytes)
    }

    init(_ bytes: SecretBytes) { self.bytes = bytes }

    /// A new key, from the system's source of randomness.
    public static func random() throws -> StoreKey {
        try StoreKey(
            SecretBytes(count: byteCount) { place in
                var generator = SystemRandomNumberGenerator()
                for start in stride(from: 0, to: byteCount, by: 8) {
                    withUnsafeBytes(of: generator.next()) { place[start..<start + 8].copyBytes(from: $0) }
                }
            })
    }

    /// The key in a file: 32 bytes, or 64 hexadecimal digits and perhaps a line's end.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a file that holds anything else, or that others than its
    ///   owner and its group may read; `storeInputOutput` where it cannot be read.
    public init(file path: String) throws {
        let content = try SecretFile.content(of: path)
        if let key = try content.withBytes(Self.parse) {
            self.init(key)
        } else {
            throw SluiceError(
                .invalidArgument, "the file \(path) holds no key, which has 32 bytes or 64 hexadecimal digits")
        }
    }

    /// The key that 64 hexadecimal digits are.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for any other text.
    public init(hexadecimal text: String) throws {
        let content = try SecretBytes(text.utf8)
        guard content.count == 2 * Self.byteCount, let key = try content.withBytes(Self.parse) else {
            throw SluiceError(.invalidArgument, "a key is written as 64 hexadecimal digits")
        }
        self.init(key)
    }

    /// Writes the key to a new file of 64 hexadecimal digits that only its owner may read.
    ///
    /// - Throws: ``SluiceError`` of code `storeInputOutput` where it cannot be written, or is there already.
    public func write(toFile path: String) throws {
        try SecretFile.make(SecretText.hexadecimal(bytes), at: path)
    }

    private static func parse(_ content: UnsafeRawBufferPointer) throws -> SecretBytes? {
        if content.count == byteCount { return try SecretBytes(content) }
        var digits = content[...]
        while let last = digits.last, last == 0x0A || last == 0x0D || last == 0x20 { digits.removeLast() }
        guard digits.count == 2 * byteCount, digits.allSatisfy({ Base16.value(of: $0) != nil }) else {
            return nil
        }
        return try SecretBytes(count: byteCount) { place in
            for index in 0..<byteCount {
                let at = digits.startIndex + 2 * index
                let (high, low) = (Base16.value(of: digits[at]), Base16.value(of: digits[at + 1]))
                place[index] = (high ?? 0) << 4 | (low ?? 0)
            }
        }
    }
}

extension StoreKey: CustomStringConvertible, CustomReflectable {
    /// Nothing of the key.
    public var description: String { "(hidden)" }
    /// Nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
