internal import ArgumentParser
internal import Sluice
internal import SluiceLua
internal import SluicePolicy

struct PolicyKeygenCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "keygen", abstract: "Make a key that signs releases.",
        discussion: "NAME.signer is the secret half, for the publisher alone; NAME.key goes to the devices.")

    @Argument(help: "The files' name, without an ending.")
    var name: String

    @Option(help: ArgumentHelp("The time from which devices trust it.", valueName: "time"))
    var from: String?

    @Option(help: ArgumentHelp("The time until which devices trust it.", valueName: "time"))
    var until: String?

    @OptionGroup var form: OutputForm

    func outcome() async throws -> Outcome {
        let signer = PolicySigner()
        var line = signer.key.text
        for (name, text) in [("from", from), ("until", until)] {
            if let time = try ReleaseOptions.time(text, name) { line += " \(name)=\(time)" }
        }
        try ReleaseFile.write(Array("\(signer.text)\n".utf8), to: "\(name).signer", isReplacing: false, isSecret: true)
        try ReleaseFile.write(Array("\(line)\n".utf8), to: "\(name).key", isReplacing: false)
        return Outcome(
            json: ["id": JSON(signer.key.id), "signer": JSON("\(name).signer"), "key": JSON("\(name).key")],
            text: [
                "key \(signer.key.id): \(Plain.line(name)).signer signs, \(Plain.line(name)).key goes to the devices"
            ])
    }
}

struct PolicySignCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Add a signature to a release, for devices that require several.",
        discussion: "Needs no network: the key may be on a machine that has none.")

    @Argument(help: "The release.")
    var file: String

    @Option(help: ArgumentHelp("The file of the secret key.", valueName: "file"))
    var key: String

    @OptionGroup var form: OutputForm

    func outcome() async throws -> Outcome {
        var release = try ReleaseFile.read(file)
        let signer = try PolicySigner(file: key)
        try release.sign(signer)
        try ReleaseFile.write(release.bytes, to: file)
        let ids = release.signatures.map(\.key)
        return Outcome(
            json: ["path": JSON(file), "signatures": JSON(ids.map { JSON($0) })],
            text: ["\(Plain.line(file)) is signed by \(ids.joined(separator: ", "))"])
    }
}

struct PolicyVerifyCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check a release as a device does, and show what it is.",
        discussion: "Ends with 1 if such a device would refuse it.")

    @Argument(help: "The release.")
    var file: String

    @Option(
        name: .customLong("key"), help: ArgumentHelp("A key's file; may be given several times.", valueName: "file"))
    var keys: [String]

    @Option(help: ArgumentHelp("The number of required signatures.", valueName: "n"))
    var required = 1

    @Option(help: ArgumentHelp("The device's id.", valueName: "id"))
    var device: String?

    @Option(name: .customLong("label"), help: ArgumentHelp("A label of the device.", valueName: "name=value"))
    var labels: [String] = []

    @OptionGroup var form: OutputForm

    func outcome() async throws -> Outcome {
        let trust = PolicyTrust(
            try keys.map { path throws(SluiceError) in try PolicyTrust.Entry(file: path) }, required: required)
        let bytes = try ReleaseFile.bytes(file)
        do {
            // Without a device every audience is right.
            var name = PolicyDeviceName(id: device ?? "", labels: try ReleaseOptions.labels(labels))
            var past = PolicyTrust.Past()
            if device == nil, labels.isEmpty {
                let release = try SignedRelease(bytes: bytes).unverified()
                name.labels = release.audience.labels
                (past.name, past.version, past.digests) = (release.name, release.version, release.digests)
            }
            let release = try trust.release(from: bytes, for: name, at: SyncEnvironment.system.now(), after: past)
            let policy = try release.read()
            var json = ReleaseSummary.json(release)
            json["valid"] = true
            return Outcome(
                json: json, text: ["\(Plain.line(file)): \(ReleaseSummary.text(release, plugins: policy.plans.count))"])
        } catch let refusal as PolicyRefusal {
            return Outcome(
                json: ["valid": false, "kind": JSON(refusal.kind.rawValue), "reason": JSON(refusal.reason)],
                text: ["\(Plain.line(file)): refused: \(Plain.line(refusal.reason))"], status: .fault)
        }
    }
}
