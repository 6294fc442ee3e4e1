internal import SluiceCore

/// The encryption of a store: SQLCipher 4, AES-256 and a keyed hash for each page.
///
/// The library is opened with the first encrypted store; without one it is not needed.
public struct StoreEncryption: Sendable {
    enum Secret: Sendable {
        case key(StoreKey)
        case passphrase(StorePassphrase)
    }

    let secret: Secret

    /// Encrypts with that key.
    public static func key(_ key: StoreKey) -> StoreEncryption { .init(secret: .key(key)) }

    /// Encrypts with a key that is derived from that passphrase.
    public static func passphrase(_ passphrase: StorePassphrase) -> StoreEncryption {
        .init(secret: .passphrase(passphrase))
    }
}

extension StoreEncryption: CustomStringConvertible, CustomReflectable {
    /// Nothing of the secret.
    public var description: String { "(hidden)" }
    /// Nothing of the secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A passphrase, from which the key of a store is derived: PBKDF2 with HMAC-SHA512, 256,000 rounds, and a salt that
/// stands in the file. That costs a good part of a second each time the store is opened; a ``StoreKey`` costs nothing.
///
/// It is kept on memory of its own and wiped when the last copy of this value is gone. No description and no dump shows
/// it.
public struct StorePassphrase: Sendable {
    let bytes: SecretBytes

    /// Creates a passphrase from text, as UTF-8.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for an empty one.
    public init(_ text: String) throws {
        guard !text.isEmpty else { throw SluiceError(.invalidArgument, "a passphrase is not empty") }
        bytes = try SecretBytes(text.utf8)
    }

    /// Reads the passphrase from a file, without the line's end.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for an empty file, or one that everyone may read;
    ///   `storeInputOutput` if it cannot be read.
    public init(file path: String) throws {
        bytes = try SecretFile.content(of: path).withBytes { content in
            var text = content[...]
            while let last = text.last, last == 0x0A || last == 0x0D { text.removeLast() }
            guard !text.isEmpty else { throw SluiceError(.invalidArgument, "the file \(path) holds no passphrase") }
            return try SecretBytes(text)
        }
    }
}

extension StorePassphrase: CustomStringConvertible, CustomReflectable {
    /// Nothing of the passphrase.
    public var description: String { "(hidden)" }
    /// Nothing of the passphrase.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A key of 32 bytes, used directly and without derivation to encrypt a store.
///
/// It is kept on memory of its own and wiped when the last copy of this value is gone. The caller must wipe its source,
/// such as an array. No description and no dump shows it.
///
/// ```swift
/// let key = try StoreKey(file: "/run/credentials/sync/key")
/// let store = try SQLiteStore(path: "todos.db", encryption: .key(key))
/// ```
public struct StoreKey: Sendable {
    /// The length of a key in bytes.
    public static let byteCount = 32

    let bytes: SecretBytes

    /// Creates a key from those bytes.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` unless they are 32.
    public init(_ bytes: some Collection<UInt8>) throws {
        guard bytes.count == Self.byteCount else {
            throw SluiceError(.invalidArgument, "a key has \(Self.byteCount) bytes, and this one \(bytes.count)")
        }
        self.bytes = try SecretBytes(bytes)
    }

    init(_ bytes: SecretBytes) { self.bytes = bytes }

    /// Creates a new key, from the system's source of randomness.
    public static func random() throws -> StoreKey {
        try StoreKey(
            SecretBytes(count: byteCount) { place in
                var generator = SystemRandomNumberGenerator()
                for start in stride(from: 0, to: byteCount, by: 8) {
                    withUnsafeBytes(of: generator.next()) { place[start..<start + 8].copyBytes(from: $0) }
                }
            })
    }

    /// Reads the key from a file: 32 bytes, or 64 hexadecimal digits and perhaps a line's end.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a file with any other content, or one that users outside
    ///   its group may read; `storeInputOutput` if it cannot be read.
    public init(file path: String) throws {
        let content = try SecretFile.content(of: path)
        if let key = try content.withBytes(Self.parse) {
            self.init(key)
        } else {
            throw SluiceError(
                .invalidArgument, "the file \(path) holds no key, which has 32 bytes or 64 hexadecimal digits")
        }
    }

    /// Reads the key from 64 hexadecimal digits.
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
    /// - Throws: ``SluiceError`` of code `storeInputOutput` if it cannot be written, or exists already.
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
