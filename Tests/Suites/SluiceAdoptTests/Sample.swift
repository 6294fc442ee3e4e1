import Foundation
import RepositoryFiles
import SluiceAdopt
import SluiceCore
import SluiceSQLite
import Testing

/// The small store of each format in the fixtures: one table of six records, of which four have a waiting change.
struct Sample: Sendable, CustomTestStringConvertible {
    static let all = OldStoreFormat.allCases.map(Sample.init)

    let format: OldStoreFormat
    var testDescription: String { format.rawValue }

    /// The wire that the format's servers speak.
    var dialect: Dialect {
        switch format {
        case .net, .javascript, .android, .ios: .azureV2
        case .datasync: .azureV3
        case .toolkit: .datasync
        }
    }

    /// Whether the queue keeps the server's record of a refusal.
    var keepsServerRecord: Bool { format != .javascript && format != .toolkit }

    /// What the file does not tell.
    var options: AdoptionOptions {
        var options = AdoptionOptions()
        switch format {
        case .net, .datasync: break
        case .toolkit:
            options.names = ["Todos": "todos"]
            options.utc = { $0.advanced(by: .seconds(-3600)) }
            options.tables = [
                TableSchema(
                    "todos", columns: [.init("done", .boolean), .init("rank", .integer), .init("big", .integer)])
            ]
        case .javascript, .android, .ios:
            options.tables = [
                TableSchema(
                    "todos",
                    columns: [
                        .init("text", .string), .init("done", .boolean), .init("rank", .integer), .init("cost", .real),
                        .init("due", .date), .init("big", .integer), .init("photo", .string), .init("extra", .json),
                    ])
            ]
            if format == .ios { options.leftTables = ["ZSETTINGS"] }
        }
        return options
    }

    /// Returns the text that makes the store, with the server's versions.
    func sql(_ versions: [String: String] = [:]) throws -> String {
        var text = try String(contentsOfFile: Repository.fixture("old-stores/\(format.rawValue).sql"), encoding: .utf8)
        for id in ["t1", "t2", "t3", "t4", "t6"] {
            text = text.replacingOccurrences(of: "{\(id)}", with: versions[id] ?? "version of \(id)")
        }
        return text
    }

    /// Makes the store's file.
    func make(at path: String, _ versions: [String: String] = [:], changed: (String) -> String = { $0 }) throws {
        try SQLiteConnection(path: path).execute(changed(sql(versions)))
    }

    /// The records of the sample as the wire has them, without what only the server sets.
    var records: [String: JSON] {
        let big: JSON = 9_007_199_254_740_993
        var records: [String: JSON] = [
            "t1": [
                "id": "t1", "text": "007", "done": true, "rank": 3, "cost": 2.5, "due": "2019-01-02T03:04:05.678Z",
                "big": big, "photo": "AAEC", "extra": ["a": [1, .null]],
            ],
            "t2": [
                "id": "t2", "text": .null, "done": .null, "rank": .null, "cost": .null, "due": .null, "big": .null,
                "photo": .null, "extra": .null,
            ],
            "t3": [
                "id": "t3", "text": "edited", "done": false, "rank": -1, "cost": 0.25,
                "due": "2019-01-02T03:04:05.000Z",
                "big": -9_007_199_254_740_993, "photo": "", "extra": [],
            ],
            "t5": [
                "id": "t5", "text": "new", "done": true, "rank": 5, "cost": .null, "due": "2019-01-02T03:04:05.678Z",
                "big": big, "photo": .null, "extra": ["b": 2],
            ],
            "t6": [
                "id": "t6", "text": "mine", "done": .null, "rank": .null, "cost": .null, "due": .null, "big": .null,
                "photo": .null, "extra": .null,
            ],
        ]
        guard format == .toolkit else { return records }
        // A class of the application: the rank is no nullable, the extra a text.
        for (id, record) in records {
            var record = record
            record["rank"] = id == "t5" ? 0 : record["rank"].flatMap { $0.isNull ? 0 : $0 }
            record["extra"] = record["extra"].flatMap { $0.isNull ? .null : JSON($0.description) }
            record["seen"] = id == "t1" ? "2019-01-02T03:04:05.678Z" : .null
            record["tag"] = id == "t1" ? "0fedcba9-0000-4000-8000-00000000000a" : .null
            records[id] = record
        }
        return records
    }
}

/// A folder that is gone with the last reference to it.
final class Folder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("sluice-adopt-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// The files in the folder with their bytes.
    var contents: [String: Data] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return Dictionary(
            uniqueKeysWithValues: names.map { ($0, FileManager.default.contents(atPath: file($0)) ?? Data()) })
    }
}
