internal import Foundation
public import SluiceCore
internal import Yams

extension BackendConfiguration {
    /// Reads a configuration file. Paths in it are relative to its directory.
    ///
    /// ```yaml
    /// database: sqlite:backend.db        # or sqlite::memory:
    /// tables:
    ///   movies: { seed: movies.json, pageSize: 100, maxTop: 128000, softDelete: true }
    /// ```
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` whose message begins with the file, line and column.
    public init(file path: String) throws(SluiceError) {
        let url = URL(fileURLWithPath: path)
        let text: String
        do {
            text = try String(contentsOf: url, encoding: .utf8)
        } catch {
            throw SluiceError(.invalidArgument, "the configuration \(path) cannot be read", cause: error)
        }
        try self.init(yaml: text, file: path, directory: url.deletingLastPathComponent().path)
    }

    /// Reads a configuration's text. `file` is the name that errors begin with, `directory` what paths are relative to.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` whose message begins with the file, line and column.
    public init(yaml text: String, file: String, directory: String) throws(SluiceError) {
        let reader = ConfigurationReader(file: file, directory: directory)
        self = try reader.configuration(text)
    }
}

/// Reads the parts of a configuration, and says where one is wrong.
struct ConfigurationReader {
    let file: String
    let directory: String

    func configuration(_ text: String) throws(SluiceError) -> BackendConfiguration {
        let root: Node
        do {
            guard let node = try Yams.compose(yaml: text) else {
                throw SluiceError(.invalidArgument, "\(file): the configuration is empty")
            }
            root = node
        } catch let error as SluiceError {
            throw error
        } catch let error as YamlError {
            throw SluiceError(.invalidArgument, "\(file):\(Self.place(of: error))not valid YAML", cause: error)
        } catch {
            throw SluiceError(.invalidArgument, "\(file): not valid YAML", cause: error)
        }
        let members = try mapping(root, "the configuration", keys: ["database", "tables"])
        guard let database = members["database"] else {
            throw failure("the key database is missing, such as database: sqlite:backend.db", at: root)
        }
        guard let tables = members["tables"] else { throw failure("the key tables is missing", at: root) }
        var configuration = BackendConfiguration(database: try self.database(database))
        guard let entries = tables.mapping, !entries.isEmpty else {
            throw failure("tables is a mapping of names to their rules", at: tables)
        }
        for (key, value) in entries { configuration.tables.append(try table(key, value)) }
        do {
            try configuration.validate()
        } catch {
            let key = entries.first { $0.key.string == error.table }?.key ?? tables
            throw failure(error.message, at: key, table: error.table)
        }
        return configuration
    }

    private func database(_ node: Node) throws(SluiceError) -> BackendConfiguration.Database {
        guard let text = node.string, text.hasPrefix("sqlite:"), text.utf8.count > 7 else {
            throw failure("database is sqlite:PATH or sqlite::memory:", at: node)
        }
        let path = String(text.dropFirst(7))
        return path == ":memory:" ? .memory : .sqlite(path: absolute(path))
    }

    private func table(_ key: Node, _ node: Node) throws(SluiceError) -> BackendConfiguration.Table {
        guard let name = key.string else { throw failure("a table's name is a text", at: key) }
        var table = BackendConfiguration.Table(name)
        if node.null != nil { return table }
        let keys = ["seed", "pageSize", "maxTop", "softDelete", "columns"]
        let members = try mapping(node, "table \(name)", keys: keys)
        if let seed = members["seed"] {
            guard let path = seed.string, !path.isEmpty else { throw failure("seed is a file's path", at: seed) }
            table.seed = .file(path: absolute(path))
        }
        if let value = members["pageSize"] { table.pageSize = try integer(value, "pageSize") }
        if let value = members["maxTop"] { table.maxTop = try integer(value, "maxTop") }
        if let value = members["softDelete"] {
            guard let flag = value.bool else { throw failure("softDelete is true or false", at: value) }
            table.softDelete = flag
        }
        if let columns = members["columns"] { table.columns = try self.columns(columns) }
        return table
    }

    private func columns(_ node: Node) throws(SluiceError) -> [TableSchema.Column] {
        guard let entries = node.mapping else { throw failure("columns is a mapping of names to types", at: node) }
        let types = TableSchema.ColumnType.allCases.map(\.rawValue)
        var columns: [TableSchema.Column] = []
        for (key, value) in entries {
            guard let name = key.string, !name.isEmpty else { throw failure("a column's name is a text", at: key) }
            guard let type = value.string.flatMap(TableSchema.ColumnType.init) else {
                let hint = value.string.flatMap { NearestKey.suggestion(for: $0, among: types) } ?? ""
                throw failure("a column's type is one of \(types.joined(separator: ", "))\(hint)", at: value)
            }
            columns.append(.init(name, type))
        }
        return columns
    }

    private func mapping(_ node: Node, _ what: String, keys: [String]) throws(SluiceError) -> [String: Node] {
        guard let entries = node.mapping else {
            throw failure("\(what) is a mapping with the keys \(keys.joined(separator: ", "))", at: node)
        }
        var members: [String: Node] = [:]
        for (key, value) in entries {
            guard let name = key.string, keys.contains(name) else {
                let name = key.string ?? "?"
                let hint =
                    NearestKey.suggestion(for: name, among: keys) ?? "; known are \(keys.joined(separator: ", "))"
                throw failure("unknown key \(name) in \(what)\(hint)", at: key)
            }
            members[name] = value
        }
        return members
    }

    private func integer(_ node: Node, _ name: String) throws(SluiceError) -> Int {
        guard let value = node.int else { throw failure("\(name) is a whole number", at: node) }
        return value
    }

    private func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : URL(fileURLWithPath: directory).appendingPathComponent(path).path
    }

    private func failure(_ reason: String, at node: Node, table: String? = nil) -> SluiceError {
        let place = node.mark.map { "\($0.line):\($0.column): " } ?? " "
        return SluiceError(.invalidArgument, "\(file):\(place)\(reason)", table: table)
    }

    private static func place(of error: YamlError) -> String {
        switch error {
        case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _):
            "\(mark.line):\(mark.column): "
        case .duplicatedKeysInMapping(_, let context):
            "\(context.mark.line):\(context.mark.column): "
        default: " "
        }
    }
}
