extension SQLiteStore {
    /// Opens a store with a key that has to be requested first, perhaps slowly: from a TPM, a keyring, a vault.
    ///
    /// ```swift
    /// let store = try await SQLiteStore.open(
    ///     path: "todos.db",
    ///     key: { try await StoreKey(hexadecimal: vault.secret(named: "todos")) })
    /// ```
    ///
    /// It is requested once, before anything is opened or created. The key is released when the store is open, as with
    /// ``init(path:encryption:options:)``.
    ///
    /// - Parameter key: returns the key. Its errors are thrown unchanged, and every file stays as it was.
    /// - Throws: any error of `key`; ``SluiceError`` as ``init(path:encryption:options:)``.
    public static func open(
        path: String, options: Options = Options(), key: @Sendable () async throws -> StoreKey
    ) async throws -> SQLiteStore {
        try await open(path: path, options: options, encryption: { .key(try await key()) })
    }

    /// Opens a store with a key or a passphrase that has to be requested first.
    ///
    /// - Parameter encryption: returns the key or the passphrase. Its errors are thrown unchanged, and every file stays
    ///   as it was.
    /// - Throws: any error of `encryption`; ``SluiceError`` as ``init(path:encryption:options:)``.
    public static func open(
        path: String, options: Options = Options(), encryption: @Sendable () async throws -> StoreEncryption
    ) async throws -> SQLiteStore {
        let secret = try await encryption()
        return try SQLiteStore(path: path, encryption: secret, options: options)
    }
}
