extension SQLiteStore {
    /// Opens a store with a key that has to be asked for first, and may take its time: of a TPM, a keyring, a vault.
    ///
    /// ```swift
    /// let store = try await SQLiteStore.open(
    ///     path: "todos.db",
    ///     key: { try await StoreKey(hexadecimal: vault.secret(named: "todos")) })
    /// ```
    ///
    /// It is asked once, before anything is opened or made. The key is let go when the store is open, as it is by
    /// ``init(path:encryption:options:)``.
    ///
    /// - Parameter key: gives the key. What it throws is thrown as it is, and every file is as it was.
    /// - Throws: what `key` throws; ``SluiceError`` as ``init(path:encryption:options:)``.
    public static func open(
        path: String, options: Options = Options(), key: @Sendable () async throws -> StoreKey
    ) async throws -> SQLiteStore {
        try await open(path: path, options: options, encryption: { .key(try await key()) })
    }

    /// The same where what is asked for may be a passphrase.
    ///
    /// - Parameter encryption: gives the key or the passphrase. What it throws is thrown as it is, and every file is as
    ///   it was.
    /// - Throws: what `encryption` throws; ``SluiceError`` as ``init(path:encryption:options:)``.
    public static func open(
        path: String, options: Options = Options(), encryption: @Sendable () async throws -> StoreEncryption
    ) async throws -> SQLiteStore {
        let secret = try await encryption()
        return try SQLiteStore(path: path, encryption: secret, options: options)
    }
}
