internal import Foundation
package import SluiceConfiguration
internal import SluiceCore

/// A configuration file, read strictly: every key is known, every value has its form, and every refusal has the place.
package struct SettingsFile {
    /// The mappings of an endpoint, next to its single values.
    package struct Shapes {
        package var tables: ConfigurationNode?
        package var queries: ConfigurationNode?
        package var migrations: ConfigurationNode?
        package var odata: ConfigurationNode?
    }

    private static let shapes = ["tables", "queries", "migrations", "odata"]

    /// The file's path; nil if there is none.
    package let path: String?
    /// The values, by key; the keys of an endpoint `a` begin with `endpoints.a.`.
    private(set) var values: [String: ConfigurationNode] = [:]
    /// Tables, queries and migrations, by endpoint; the top level has an empty name.
    private(set) var shapes: [String: Shapes] = ["": Shapes()]
    /// The names of the endpoints, in order; none where the file has one endpoint without a name.
    package private(set) var endpoints: [String] = []

    /// Creates the settings of no file.
    package init() { path = nil }

    /// Reads a file.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` with file, line, column and the allowed values.
    package init(path: String) throws {
        self.path = path
        let root = try ConfigurationFile(path: path).root()
        let members = try read(root, Setting.all, below: "", besides: ["endpoints"])
        for (name, node) in try members["endpoints"]?.entries() ?? [] {
            guard name.utf8.allSatisfy({ Self.isPlain($0) }), name.utf8.count <= 64 else {
                throw node.key.refusal("the name of an endpoint has letters, digits and - only")
            }
            endpoints.append(name)
            shapes[name] = Shapes()
            _ = try read(
                node.named("endpoint \(name)"), Setting.all.filter { $0.scope == .endpoint },
                below: "endpoints.\(name).")
        }
        if let node = members["endpoints"], endpoints.isEmpty { throw node.refusal("endpoints needs one at least") }
        if let node = values["endpoint"], !endpoints.isEmpty {
            throw node.refusal("endpoint and endpoints are two ways to say the same: use one")
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// Reads the values of a mapping; their keys begin with `prefix`.
    private mutating func read(
        _ node: ConfigurationNode, _ settings: [Setting], below prefix: String, besides: [String] = []
    ) throws -> [String: ConfigurationNode] {
        let visible = settings.filter { !$0.isSecret }
        let groups = Set(visible.compactMap(\.group))
        let members = try node.members(
            visible.filter { $0.group == nil }.map(\.key) + groups.sorted() + Self.shapes + besides)
        for setting in settings where setting.group == nil { try take(setting, members[setting.key], prefix) }
        for group in groups.sorted() {
            guard let node = members[group] else { continue }
            let settings = visible.filter { $0.group == group }
            let members = try node.members(settings.map(\.name))
            for setting in settings { try take(setting, members[setting.name], prefix) }
        }
        let scope = String(prefix.split(separator: ".").last ?? "")
        shapes[scope] = Shapes(
            tables: members["tables"], queries: members["queries"], migrations: members["migrations"],
            odata: members["odata"])
        return members
    }

    private mutating func take(_ setting: Setting, _ node: ConfigurationNode?, _ prefix: String) throws {
        guard let node, !node.isNull else { return }
        for text in setting.form == .list ? try node.items().map({ try $0.text() }) : [try node.text()] {
            if let mistake = setting.form.mistake(in: text) { throw node.refusal("\(setting.key) \(mistake)") }
        }
        values[prefix + setting.key] = node
    }
}
