internal import SluiceBase
internal import SluiceWire

/// A filter or a hook that keeps records in another shape here than the server has.
package protocol RecordShaper: Sendable {
    /// Returns a text that changes with what it makes of a table's records; nil where it leaves them as they are.
    func recordShape(of table: String) -> String?
}

/// The shape in which pulls store a table's records: what codecs and `after_pull` hooks make of the server's.
enum RecordShape {
    /// Returns a digest of the shape; nil where records are stored as the server has them. A hook of the application's own
    /// counts by its name.
    static func current(of table: String, _ client: SluiceClient, _ options: SyncOptions) -> String? {
        let filters = client.filters.compactMap { ($0 as? any RecordShaper)?.recordShape(of: table) }
        let hooks = options.hooks.filter { $0.wants(.afterPull, table: table) }.compactMap { hook in
            if let shaper = hook as? any RecordShaper { shaper.recordShape(of: table) } else { hook.hookName }
        }
        let parts = filters + hooks
        return parts.isEmpty ? nil : String(FNV1a.hash(JSON(parts.map { JSON($0) }).bytes()), radix: 16)
    }

    /// Whether records of the table may be stored in a former shape: no pull has ended since the shape changed.
    static func isFormer(
        in table: String, _ client: SluiceClient, _ options: SyncOptions, _ store: any StoreReader
    ) throws -> Bool {
        let current = current(of: table, client, options)
        return try Cursor.all(of: table, in: store).contains { cursor in
            cursor.isReshaping || (cursor.shape != current && cursor.position != nil)
        }
    }
}
