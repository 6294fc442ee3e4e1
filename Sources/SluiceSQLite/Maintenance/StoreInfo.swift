/// What a store's file is and holds.
public struct StoreInfo: Sendable, Hashable {
    /// A table of the store.
    public struct Table: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// How many records it has.
        public var records: Int
        /// How many columns are declared.
        public var columns: Int
        /// How many indexes are declared.
        public var indexes: Int
        /// Whether the engine keeps it for itself.
        public var isOwn: Bool
    }

    /// The store's path, without symbolic links.
    public var path: String
    /// The number of the format.
    public var format: Int
    /// Whether it is encrypted.
    public var isEncrypted: Bool
    /// The library that it is opened with, and its version.
    public var library: String
    /// The file's size in bytes.
    public var size: Int
    /// How many bytes of the file are free, and would be given back by ``SQLiteStore/vacuum()``.
    public var free: Int
    /// The size of the write-ahead log in bytes.
    public var log: Int
    /// Whether anyone but its owner may read the file or its folder.
    public var isReadableByOthers: Bool
    /// The tables, by name.
    public var tables: [Table]
}
