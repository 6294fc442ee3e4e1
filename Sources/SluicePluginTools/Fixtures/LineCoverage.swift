internal import SluiceCore
internal import SluiceLua

/// Which statements inside of functions ran. Those outside run whenever the plugin is loaded.
public struct LineCoverage: Sendable {
    /// What is known of one file.
    public struct File: Sendable {
        /// The file: `main.lua`, `lib/rules.lua`.
        public let name: String
        /// How many statements it has inside of functions.
        public let statements: Int
        /// The lines of those that did not run.
        public let missing: [Int]
    }

    /// The files with statements, in the order of the bundle.
    public let files: [File]

    /// - Parameter spent: the fuel by line, as the sandbox counts it: `{"main.lua:41": 1200}`.
    init(_ bundle: PluginBundle, spent: [String: Int]) {
        files = bundle.sources.compactMap { source in
            guard let outline = LuaOutline(source.text), !outline.statements.isEmpty else { return nil }
            let missing = outline.statements.filter { statement in
                !statement.lines.contains { spent["\(source.path):\($0)"] != nil }
            }
            return File(
                name: source.path, statements: outline.statements.count,
                missing: Set(missing.map(\.lines.lowerBound)).sorted())
        }
    }

    var lines: [String] {
        files.map { file in
            let share = file.statements == 0 ? 100 : 100 * (file.statements - file.missing.count) / file.statements
            let rest =
                file.missing.isEmpty ? "" : ", not lines \(file.missing.map(String.init).joined(separator: ", "))"
            return "\(file.name): \(share) % of \(file.statements.counted("statement")) ran\(rest)"
        }
    }

    var json: JSON {
        JSON(
            members: files.map { file in
                (file.name, ["statements": JSON(file.statements), "missing": JSON(file.missing.map { JSON($0) })])
            })
    }
}
