import Foundation
import HTTPTypes
import SluiceCore
import SluiceSQLite
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Properties that nobody declared")
final class UnknownPropertiesTests {
    /// Where a device keeps its records.
    enum Place: String, CaseIterable, CustomTestStringConvertible {
        case memory, sqlite, file, encrypted

        var testDescription: String { rawValue }
        /// Whether the store is there when it is opened again.
        var isKept: Bool { self == .file || self == .encrypted }
    }

    private static let unknown: JSON = [
        "nested": ["a": [1, .null, ["b": "\u{0}é"]]], "big": 18_014_398_509_481_985, "empty": .object, "none": .null,
        "": "no name", "two words": 1.5,
    ]

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sluice-\(UUID().uuidString)")
    private let key: StoreKey

    init() throws {
        key = try StoreKey.random()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The device's store: a new one, or the one that it has in its file.
    private func store(_ name: String, _ place: Place) throws -> any LocalStore {
        let path = folder.appendingPathComponent("\(name).db").path
        let options = SQLiteStore.Options(durability: .normal)
        return switch place {
        case .memory: MemoryStore()
        case .sqlite: try SQLiteStore(path: ":memory:")
        case .file: try SQLiteStore(path: path, options: options)
        case .encrypted: try SQLiteStore(path: path, encryption: .key(key), options: options)
        }
    }

    /// The record without what only the server sets, under the names that the wire has for it; a wire that has none for
    /// the time of creation leaves that to the server.
    private static func plain(_ record: JSON?, _ dialect: Dialect) -> JSON? {
        record.map { record in
            RecordRules.withoutSystemColumns(record, Set(record.names.filter(dialect.isSystemProperty) + ["createdAt"]))
        }
    }

    private func device(
        _ name: String, _ place: Place, _ server: ModelServer, _ dialect: Dialect, tables: [TableSchema] = []
    ) async throws -> Device {
        let transport: any Transport = dialect.columns.version == "version" ? server : FormerNames(server: server)
        return try await Device(
            .memory, server: server, store: store(name, place), transport: transport, dialect: dialect, tables: tables)
    }

    @Test("survive an edit of others, in every store and by every wire", arguments: Place.allCases, Dialect.all)
    func survive(_ place: Place, _ dialect: Dialect) async throws {
        let server = ModelServer()
        let device = try await device(
            "one", place, server, dialect, tables: [TableSchema("todos", columns: [.init("text", .string)])])
        var row = Self.unknown
        (row["id"], row["text"]) = ("1", "old")
        server.seed("todos", [row])
        try await device.todos.pull(named: "all")
        #expect(try await Self.plain(device.todos.lookup(id: "1"), dialect) == row)
        try await device.todos.update(["id": "1", "text": "new"])
        try await device.todos.insert(["id": "2", "text": "made", "own": ["x": 1]])
        #expect(try await device.context.push().isClean)
        row["text"] = "new"
        let made: JSON = ["id": "2", "text": "made", "own": ["x": 1]]
        #expect(device.remote("1") == row, "as the server has it")
        #expect(try await Self.plain(device.todos.lookup(id: "1"), dialect) == row, "as it came back")
        #expect(device.remote("2") == made)

        let other = try await self.device("other", place, server, dialect)
        try await other.todos.pull(named: "all")
        #expect(try await Self.plain(other.todos.lookup(id: "1"), dialect) == row)
        #expect(try await Self.plain(other.todos.lookup(id: "2"), dialect) == made)

        try await device.store.close()
        try await other.store.close()
        guard place.isKept else { return }
        for name in ["one", "other"] {
            let store = try store(name, place)
            let found = try await store.read { reader in
                try ["1", "2"].map { try reader.record($0, in: "todos") }
            }
            #expect(found.map { Self.plain($0, dialect) } == [row, made], "as the file of \(name) has it")
            try await store.close()
        }
    }
}

/// The model server with the names of the columns that Mobile Services kept.
struct FormerNames: Transport {
    let server: ModelServer

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        var request = request
        request.head.path = request.head.path?.replacingOccurrences(of: "__updatedAt", with: "updatedAt")
        var response = try await server.send(request)
        guard let document = try? response.body.json else { return response }
        let rows = document.elements
        response.body = MessageBody(json: rows.map { JSON($0.map(Self.renamed)) } ?? Self.renamed(document))
        return response
    }

    private static func renamed(_ row: JSON) -> JSON {
        var row = row
        for name in ["version", "createdAt", "updatedAt", "deleted"] {
            guard let value = row[name] else { continue }
            row[name] = nil
            row["__\(name)"] = value
        }
        return row
    }
}
