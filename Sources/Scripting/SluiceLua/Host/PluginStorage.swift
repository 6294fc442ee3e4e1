public import SluiceCore
internal import Synchronization

/// Stores the values of `kv` between runs of the process. Implement your own, or use ``StoredPluginValues``.
public protocol PluginStorage: Sendable {
    /// Returns all saved values of a plugin, by key.
    func values(of plugin: String) async throws -> [String: JSON]

    /// Saves values of a plugin, all or none; nil removes one.
    func save(_ values: [String: JSON?], of plugin: String) async throws
}

/// Values kept in memory, until the process ends.
public final class MemoryPluginValues: PluginStorage {
    private let values = Mutex<[String: [String: JSON]]>([:])

    /// Creates an empty storage.
    public init() {}

    /// Returns the plugin's values.
    public func values(of plugin: String) async throws -> [String: JSON] { values.withLock { $0[plugin] ?? [:] } }

    /// Keeps the values in memory.
    public func save(_ saved: [String: JSON?], of plugin: String) async throws {
        values.withLock { values in
            for (key, value) in saved { values[plugin, default: [:]][key] = value }
        }
    }
}

/// Values in a table of the local store that is never synced. Each value is one record.
public struct StoredPluginValues: PluginStorage {
    private static let schema = SyncTables.pluginValues
    private let store: any LocalStore

    /// Creates the table in `store` if it is missing.
    public init(_ store: any LocalStore) async throws {
        self.store = store
        try await store.define([Self.schema])
    }

    /// Returns the plugin's values.
    public func values(of plugin: String) async throws -> [String: JSON] {
        let query = TableQuery(
            Self.schema.name, filter: .binary(.eq, .column("plugin"), .literal(.string(plugin))))
        let records = try await store.read { try $0.records(matching: query) }
        return Dictionary(
            records.compactMap { record in record["key"]?.string.map { ($0, record["value"] ?? .null) } },
            uniquingKeysWith: { $1 })
    }

    /// Saves the values in one transaction.
    public func save(_ values: [String: JSON?], of plugin: String) async throws {
        try await store.write { writer in
            for (key, value) in values {
                // A plugin's name contains no slash, so no two plugins share an id.
                let id = "\(plugin)/\(key)"
                guard let value else {
                    try writer.delete([RecordID(id)], from: Self.schema.name)
                    continue
                }
                let record: JSON = ["id": JSON(id), "plugin": JSON(plugin), "key": JSON(key), "value": value]
                try writer.put(record, in: Self.schema.name)
            }
        }
    }
}
