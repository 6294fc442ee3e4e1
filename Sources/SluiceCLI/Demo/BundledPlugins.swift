internal import Foundation

/// Where plugins are found by their names: those that come with Sluice from wherever the program is called.
enum BundledPlugins {
    /// The folder of a plugin: one of that path, or of that name in a folder `Plugins`.
    ///
    /// - Throws: ``CommandFailure`` that names the places and the plugins that come with Sluice.
    static func folder(_ name: String) throws -> String {
        let places = [name] + homes.map { "\($0)/\(name)" }
        if let found = places.first(where: { FileManager.default.fileExists(atPath: "\($0)/plugin.json") }) {
            return found
        }
        let known = homes.lazy.compactMap { try? FileManager.default.contentsOfDirectory(atPath: $0) }.first ?? []
        let names = known.filter { !$0.contains(".") }.sorted().joined(separator: ", ")
        throw CommandFailure.usage(
            "there is no plugin in \(name) or Plugins/\(name)"
                + (names.isEmpty ? "" : "; in Plugins there are \(names)"))
    }

    /// The folder `Plugins` of the working directory, the one beside the program, and that of the sources that the
    /// program was built in.
    private static var homes: [String] {
        guard let program = Bundle.main.executableURL?.resolvingSymlinksInPath() else { return ["Plugins"] }
        var folder = program.deletingLastPathComponent()
        var homes = ["Plugins", folder.appendingPathComponent("Plugins").path]
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            if FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path) {
                homes.append(folder.appendingPathComponent("Plugins").path)
                break
            }
        }
        return homes
    }
}
