internal import ArgumentParser
internal import Foundation
internal import Sluice
internal import SluiceDaemon
internal import SluiceLua
internal import SluicePluginTools
internal import SluicePolicy

struct PolicyPublishCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish", abstract: "Make one signed file of a folder with policy.yaml and its plugins.",
        discussion: """
            The plugins are checked and their fixtures run first. The same folder and options give the same bytes. Any \
            web server serves the file.
            """)

    @Argument(help: "The folder with policy.yaml.")
    var folder: String

    @OptionGroup var options: ReleaseOptions

    @Option(help: ArgumentHelp("The file to write; by default NAME-VERSION.json.", valueName: "file"))
    var output: String?

    @OptionGroup var form: OutputForm

    func outcome() async throws -> Outcome {
        let (release, signed) = try await Self.release(of: folder, options)
        if let failed = signed.failed { return failed }
        let path = output ?? "\(release.name)-\(release.version).json"
        try ReleaseFile.write(signed.bytes, to: path)
        var json = ReleaseSummary.json(release)
        json["path"] = JSON(path)
        return Outcome(
            json: json,
            text: ["\(Plain.line(path)): \(ReleaseSummary.text(release, plugins: release.plugins.count))"])
    }

    /// Returns the checked release of a folder, signed; or the outcome of a check that failed.
    static func release(
        of path: String, _ options: ReleaseOptions
    ) async throws -> (PolicyRelease, (bytes: [UInt8], failed: Outcome?)) {
        let folder = try ReleaseFolder(path)
        let name = URL(fileURLWithPath: path).standardizedFileURL.lastPathComponent
        let release = try options.release(of: folder, named: name)
        // The devices read it so.
        let policy = try release.read()
        for plan in policy.running {
            let report = await PluginCheck.run(plan.bundle)
            if !report.isGood { return (release, ([], Outcome(report))) }
            try await FixtureRunner.gate(plan)
        }
        var signed = SignedRelease(release)
        try signed.sign(try PolicySigner(file: options.key))
        return (release, (signed.bytes, nil))
    }
}

struct PolicyRolloutCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollout",
        abstract: "Widen a release in steps: write a signed file for each share of the devices.",
        discussion: """
            Each step has the same content for a larger share. Put the files in the place of the served one, one after \
            the other; or name that place with --serve, and the command does, with --wait between them. A step with \
            --most-withdrawn is not followed by the next while more of the reporting devices have withdrawn the version.
            """)

    @Argument(help: "A release, as sluice policy publish writes it.")
    var file: String

    @Option(help: ArgumentHelp("The file of the secret key.", valueName: "file"))
    var key: String

    @Option(help: ArgumentHelp("The shares, with commas.", valueName: "shares"))
    var steps = "1%,10%,100%"

    @Option(help: ArgumentHelp("The folder for the files.", valueName: "folder"))
    var into = "."

    @Option(help: ArgumentHelp("The served file, which each step replaces.", valueName: "file"))
    var serve: String?

    @Option(help: ArgumentHelp("The time between two steps, such as 1h.", valueName: "time"))
    var wait = "1h"

    @Option(
        help: ArgumentHelp("The largest share of reporting devices that may have withdrawn it.", valueName: "share"))
    var mostWithdrawn: String?

    @OptionGroup(title: "The fleet's table") var fleet: FleetOptions

    func outcome() async throws -> Outcome {
        let before = try ReleaseFile.read(file)
        let release = try before.unverified()
        if mostWithdrawn != nil, try ClientSettings(fleet.connection).endpoint == nil {
            throw CommandFailure.usage("--most-withdrawn asks the fleet's table: give --endpoint or --config")
        }
        if serve != nil, before.signatures.count > 1 {
            throw CommandFailure.usage(
                "the release has several signatures, and its steps get one: write them without --serve, and sign each")
        }
        let signer = try PolicySigner(file: key)
        let shares = try steps.split(separator: ",").map { text in
            guard let share = PolicyAudience.share(String(text)) else {
                throw CommandFailure.usage("\(text) is no share such as 10% or 0.5%")
            }
            return share
        }
        guard shares == shares.sorted(), !shares.isEmpty else {
            throw CommandFailure.usage("the shares of a rollout grow: a device that has taken a version keeps it")
        }
        var files: [(share: Int, path: String, bytes: [UInt8])] = []
        for (index, share) in shares.enumerated() {
            var step = release
            step.audience.share = share
            var signed = SignedRelease(step)
            try signed.sign(signer)
            let path = "\(into)/\(release.name)-\(release.version)-step\(index + 1).json"
            try ReleaseFile.write(signed.bytes, to: path)
            files.append((share, path, signed.bytes))
        }
        var lines = files.map { "\(PolicyAudience.text($0.share)): \(Plain.line($0.path))" }
        if let serve { lines += try await self.serve(files, at: serve, release) }
        return Outcome(
            json: ["steps": JSON(files.map { ["share": JSON(PolicyAudience.text($0.share)), "path": JSON($0.path)] })],
            text: lines)
    }

    private func serve(
        _ files: [(share: Int, path: String, bytes: [UInt8])], at place: String, _ release: PolicyRelease
    ) async throws -> [String] {
        guard let pause = DurationText.duration(wait) else {
            throw CommandFailure.usage("--wait: \(wait) is no time such as 30m")
        }
        let bound = try mostWithdrawn.map { text in
            guard let share = PolicyAudience.share(text) else {
                throw CommandFailure.usage("\(text) is no share such as 2%")
            }
            return share
        }
        for (index, step) in files.enumerated() {
            try ReleaseFile.write(step.bytes, to: place)
            StandardStream.tell(line: "sluice: \(PolicyAudience.text(step.share)) of the devices may take it")
            if index == files.count - 1 { break }
            try await Task.sleep(for: pause)
            guard let bound else { continue }
            let rows = try await fleet.devices()
            let mine = rows.filter { $0.has(release.name, release.version) }
            let withdrawn = mine.filter { $0.hasWithdrawn(release.version) }.count
            guard withdrawn * PolicyAudience.all <= bound * mine.count else {
                throw CommandFailure(
                    .fault, "withdrawn",
                    "\(withdrawn) of \(mine.count) devices have withdrawn it, so the rollout stays at "
                        + PolicyAudience.text(step.share))
            }
        }
        return ["all steps are served by \(Plain.line(place))"]
    }
}

struct PolicyDiffCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Tell the differences between two releases, permissions first.")

    @Argument(help: "The earlier release.")
    var old: String

    @Argument(help: "The later release.")
    var new: String

    @OptionGroup var form: OutputForm

    func outcome() async throws -> Outcome {
        let difference = try ReleaseDifference(
            from: try ReleaseFile.read(old).unverified(), to: try ReleaseFile.read(new).unverified())
        let lines = difference.lines
        return Outcome(
            json: ["differences": JSON(lines.map { ["about": JSON($0.about), "text": JSON($0.text)] })],
            text: lines.isEmpty ? ["no difference"] : lines.map { Plain.line("\($0.about): \($0.text)") })
    }
}
