import Foundation
import RepositoryFiles
import SluiceCore

@testable import SluiceLua

/// The plugins of the repository.
enum AuthoredBundles {
    /// All folders with a manifest below Plugins and Examples.
    static let folders: [String] = ["Plugins", "Examples"].flatMap { place in
        let names = FileManager.default.enumerator(atPath: Repository.path(place))?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix("/plugin.json") }.map { Repository.path("\(place)/\($0.dropLast(12))") }
            .sorted()
    }

    static func text(_ path: String) throws -> String {
        try String(contentsOfFile: Repository.path(path), encoding: .utf8)
    }
}

extension PluginBundle {
    /// A bundle of a manifest with those hooks, a main and other files.
    static func sample(
        _ hooks: [String], _ main: String, extra: JSON = .object, files: [String: String] = [:]
    ) throws -> PluginBundle {
        var manifest: JSON = [
            "name": "sample", "version": "1.0.0", "api": "1.0", "description": "A sample.",
            "hooks": JSON(members: hooks.map { ($0, JSON.object) }),
        ]
        for (name, value) in extra.members ?? [] { manifest[name] = value }
        var all = files.mapValues { Array($0.utf8) }
        all["plugin.json"] = manifest.bytes()
        all["main.lua"] = Array(main.utf8)
        return try PluginBundle(files: all, location: "sample")
    }

    /// The conflict handler that most tests of tools take.
    static func handler(_ body: String, extra: JSON = .object, files: [String: String] = [:]) throws -> PluginBundle {
        try sample(
            ["on_conflict"], "local function on_conflict(c, ctx)\n\(body)\nend\nreturn { on_conflict = on_conflict }",
            extra: extra, files: files)
    }
}
