import Sluice

/// What a store is encrypted with: nothing, or the key in a file.
struct StoreSecret: Hashable, Sendable {
    var keyFile: String?

    static let none = StoreSecret(keyFile: nil)

    var encryption: StoreEncryption? {
        get throws { try keyFile.map { .key(try StoreKey(file: $0)) } }
    }

    /// Whether it is what the store at `path` is encrypted with.
    func opens(_ path: String) async throws -> Bool {
        do {
            try await SQLiteStore(path: path, encryption: encryption).close()
            return true
        } catch let error as SluiceError
            where [.storeKeyRefused, .storeEncrypted, .storeNotEncrypted].contains(error.code)
        {
            return false
        }
    }
}
