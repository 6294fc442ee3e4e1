internal import ArgumentParser
internal import Foundation
internal import Sluice
internal import SluicePolicy

/// The form of a command's output.
struct OutputForm: ParsableArguments {
    @Flag(help: "Print exactly one JSON document.")
    var json = false
}

/// The options that make a release of a folder.
struct ReleaseOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The file of the secret key.", valueName: "file"))
    var key: String

    @Option(name: .customLong("release-version"), help: ArgumentHelp("The number of the version.", valueName: "n"))
    var version: Int

    @Option(help: ArgumentHelp("The name of the stream of versions; by default the folder's.", valueName: "name"))
    var name: String?

    @Option(name: .customLong("label"), help: ArgumentHelp("A label that devices must have.", valueName: "name=value"))
    var labels: [String] = []

    @Option(help: ArgumentHelp("The share of the devices, such as 10%.", valueName: "share"))
    var share: String?

    @Option(help: ArgumentHelp("The time from which it is valid.", valueName: "time"))
    var from: String?

    @Option(help: ArgumentHelp("The time until which it is valid.", valueName: "time"))
    var until: String?

    @Option(
        name: .customLong("revoke"),
        help: ArgumentHelp("The id of a key that devices stop to trust.", valueName: "id"))
    var revoked: [String] = []

    /// Returns the release of a folder with a checked policy.
    func release(of folder: ReleaseFolder, named fallback: String) throws -> PolicyRelease {
        guard (1...Int(Int32.max)).contains(version) else {
            throw CommandFailure.usage("a version is a number from 1 to \(Int32.max)")
        }
        var release = folder.release(name: name ?? fallback, version: version)
        release.audience.labels = try Self.labels(labels)
        if let share {
            guard let share = PolicyAudience.share(share) else {
                throw CommandFailure.usage("\(share) is no share such as 10% or 0.5%")
            }
            release.audience.share = share
        }
        release.validFrom = try Self.time(from, "from")
        release.validUntil = try Self.time(until, "until")
        release.revokes = Set(revoked)
        return release
    }

    /// Reads labels of the form `name=value`.
    static func labels(_ texts: [String]) throws -> [String: String] {
        var labels: [String: String] = [:]
        for text in texts {
            let parts = text.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { throw CommandFailure.usage("\(text) is no label such as ring=canary") }
            labels[String(parts[0])] = String(parts[1])
        }
        return labels
    }

    /// Reads a time; nil for none.
    static func time(_ text: String?, _ name: String) throws -> Timestamp? {
        try text.map { text in
            guard let time = Timestamp(text) else {
                throw CommandFailure.usage("--\(name): \(text) is no time such as 2026-12-01T00:00:00Z")
            }
            return time
        }
    }
}

/// A release's file.
enum ReleaseFile {
    /// Reads a file's bytes, up to the largest release.
    static func bytes(_ path: String) throws -> [UInt8] {
        do throws(SystemFailure) {
            return try OpenFile(path, .filesOnly).read(upTo: SignedRelease.maximumBytes + 1)
        } catch {
            throw CommandFailure.usage("\(Plain.line(path)): the file cannot be read: \(error.reason)")
        }
    }

    /// Reads a release, and verifies nothing.
    static func read(_ path: String) throws -> SignedRelease {
        let bytes = try bytes(path)
        do throws(PolicyRefusal) {
            return try SignedRelease(bytes: bytes)
        } catch {
            throw CommandFailure.usage("\(Plain.line(path)): \(error.reason)")
        }
    }

    /// Writes a file whole, or not at all. A web server of another user can read it, unless it is secret.
    static func write(_ bytes: [UInt8], to path: String, isReplacing: Bool = true, isSecret: Bool = false) throws {
        do throws(SystemFailure) {
            let draft = try FileDraft(of: path, isReplacing: isReplacing)
            do throws(SystemFailure) {
                try draft.file.write(bytes)
                if !isSecret, fchmod(draft.file.descriptor, 0o644) != 0 { throw .last("fchmod") }
                try draft.finish()
            } catch {
                draft.discard()
                throw error
            }
        } catch {
            throw CommandFailure(
                .output, "output", "\(Plain.line(path)): the file cannot be written: \(error.reason)")
        }
    }
}

/// A release in words and as JSON.
enum ReleaseSummary {
    static func json(_ release: PolicyRelease) -> JSON {
        func texts(_ texts: [String: String]) -> JSON {
            JSON(members: texts.sorted { $0.key < $1.key }.map { (PropertyName($0.key), JSON($0.value)) })
        }
        return [
            "name": JSON(release.name), "version": JSON(release.version),
            "labels": texts(release.audience.labels), "share": JSON(PolicyAudience.text(release.audience.share)),
            "from": release.validFrom.map { JSON($0.description) } ?? .null,
            "until": release.validUntil.map { JSON($0.description) } ?? .null,
            "revokes": JSON(release.revokes.sorted().map { JSON($0) }), "digests": texts(release.digests),
        ]
    }

    static func text(_ release: PolicyRelease, plugins: Int) -> String {
        var parts = ["\(Plain.line(release.name)) \(release.version)", Plain.count(plugins, "plugin")]
        for (name, value) in release.audience.labels.sorted(by: { $0.key < $1.key }) {
            parts.append(Plain.line("for \(name)=\(value)"))
        }
        parts.append("for \(PolicyAudience.text(release.audience.share)) of the devices")
        if let from = release.validFrom { parts.append("from \(from)") }
        if let until = release.validUntil { parts.append("until \(until)") }
        return parts.joined(separator: ", ")
    }
}
