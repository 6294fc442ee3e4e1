public import SluiceCore
internal import Synchronization

/// Where the values of `kv` are kept between runs of the process. Bring your own, or take ``StoredPluginValues``.
public protocol PluginStorage: Sendable {
    /// All values of a plugin, by key, as they were saved.
    func values(of plugin: String) async throws -> [String: JSON]

    /// Saves values of a plugin, all or none; nil removes one.
    func save(_ values: [String: JSON?], of plugin: String) async throws
}

/// Values that live as long as the process.
public final class MemoryPluginValues: PluginStorage {
    private let values = Mutex<[String: [String: JSON]]>([:])

    /// No values.
    public init() {}

    /// The plugin's values.
    public func values(of plugin: String) async throws -> [String: JSON] { values.withLock { $0[plugin] ?? [:] } }

    /// Keeps the values.
    public func save(_ saved: [String: JSON?], of plugin: String) async throws {
        values.withLock { values in
            for (key, value) in saved { values[plugin, default: [:]][key] = value }
        }
    }
}

/// Values in a table of the local store, which no sync touches: one record a value.
public struct StoredPluginValues: PluginStorage {
    private static let schema = SyncTables.pluginValues
    private let store: any LocalStore

    /// Values in `store`, in which the table is made.
    public init(_ store: any LocalStore) async throws {
        self.store = store
        try await store.define([Self.schema])
    }

    /// The plugin's values.
    public func values(of plugin: String) async throws -> [String: JSON] {
        let query = Query(
            Self.schema.name, filter: .binary(.eq, .column("plugin"), .literal(.string(plugin))))
        let records = try await store.read { try $0.records(matching: query) }
        return Dictionary(
            records.compactMap { record in record["key"]?.string.map { ($0, record["value"] ?? .null) } },
            uniquingKeysWith: { $1 })
    }

    /// Keeps the values, in one transaction.
    public func save(_ values: [String: JSON?], of plugin: String) async throws {
        try await store.write { writer in
            for (key, value) in values {
                // The plugin's name holds no slash, so that no two plugins share an id.
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
