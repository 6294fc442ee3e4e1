internal import ArgumentParser
internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

struct PluginPackCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "pack",
        abstract: "Put a plugin into one file, the same bytes on every machine, and print its hash.")

    @OptionGroup var target: PluginTargetOptions

    @Option(help: ArgumentHelp("The folder to put it into.", valueName: "folder"))
    var into = "."

    func outcome() async throws -> Outcome {
        var packs: [JSON] = []
        var lines: [String] = []
        for bundle in try target.bundles {
            let report = await PluginCheck.run(bundle)
            guard report.isGood else { return Outcome(report) }
            let pack = try PluginPack(bundle)
            let path = try pack.write(to: into)
            packs.append(["path": JSON(path), "sha256": JSON(pack.hash), "bytes": JSON(pack.bytes.count)])
            lines.append("\(pack.hash)  \(path)")
        }
        return Outcome(json: ["packs": JSON(packs)], text: lines)
    }
}
