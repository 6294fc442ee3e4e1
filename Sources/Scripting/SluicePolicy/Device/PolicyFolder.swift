internal import Foundation
package import SluiceCore

/// The folder in which a device keeps its releases and the state of its policy. Each file is written whole before the
/// state names it, and the state is replaced at once, so that a process that ends anywhere finds one whole policy.
package struct PolicyFolder: Sendable {
    package let path: String
    private var statePath: String { "\(path)/state.json" }

    /// Creates the folder if there is none.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if it cannot be created.
    package init(_ path: String) throws(SluiceError) {
        self.path = path
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw SluiceError(.invalidArgument, "\(path): the folder of the policy cannot be created")
        }
        if let status = FileStatus(path), status.permissions & 0o022 != 0 {
            throw SluiceError(
                .invalidArgument, "\(path): other users may write to the folder of the policy: chmod go-w")
        }
    }

    /// Returns the saved state; a new one if there is none.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if it cannot be read. A device that went on without it would
    ///   take older releases again.
    package func state() throws(SluiceError) -> PolicyDevice.State {
        let bytes: [UInt8]
        do throws(SystemFailure) {
            bytes = try OpenFile(statePath, .filesOnly).read(upTo: 1 << 20)
        } catch  where error.isAbsence {
            return PolicyDevice.State()
        } catch {
            throw SluiceError(.invalidArgument, "\(statePath): the file cannot be read: \(error.reason)")
        }
        guard let state = (try? JSON(parsing: bytes)).flatMap(PolicyDevice.State.init) else {
            throw SluiceError(
                .invalidArgument, "\(statePath): the file is not the state of a policy; see docs/fleet.md")
        }
        return state
    }

    /// Saves the state, and removes the files that it no longer needs.
    package func save(_ state: PolicyDevice.State) throws(SluiceError) {
        try write(state.json.bytes(), to: statePath)
        let needed = Set(state.needed.map(Self.name))
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        where name.hasPrefix("release-") && !needed.contains(name) {
            try? FileManager.default.removeItem(atPath: "\(path)/\(name)")
        }
    }

    /// Returns the device's id; one is made by chance at first, and kept.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if it cannot be read or kept.
    package func deviceID() throws(SluiceError) -> String {
        let file = "\(path)/device"
        do throws(SystemFailure) {
            let text = String(decoding: try OpenFile(file, .filesOnly).read(upTo: 256), as: UTF8.self)
            if let line = text.split(whereSeparator: \.isWhitespace).first { return String(line) }
        } catch  where error.isAbsence {
        } catch {
            throw SluiceError(.invalidArgument, "\(file): the file cannot be read: \(error.reason)")
        }
        let id = UUID().uuidString.lowercased()
        try write(Array("\(id)\n".utf8), to: file)
        return id
    }

    /// Claims the folder for this process until the claim is released.
    ///
    /// - Throws: ``SluiceError`` of code `storeBusy` if another daemon has it; of `invalidArgument` if its file cannot be
    ///   written.
    package func claim(process: Int) throws(SluiceError) -> PolicyFolderClaim {
        try PolicyFolderClaim(of: path, process: process)
    }

    private static func name(_ version: Int) -> String { "release-\(version).json" }

    /// Saves the content of a release.
    package func keep(_ release: PolicyRelease) throws(SluiceError) {
        try write(release.bytes, to: "\(path)/\(Self.name(release.version))")
    }

    /// Returns a kept release, whose parts have the digests of its manifest.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument`.
    package func release(_ version: Int) throws(SluiceError) -> PolicyRelease {
        let file = "\(path)/\(Self.name(version))"
        let bytes: [UInt8]
        do throws(SystemFailure) {
            bytes = try OpenFile(file, .filesOnly).read(upTo: SignedRelease.maximumBytes)
        } catch {
            throw SluiceError(.invalidArgument, "\(file): the release cannot be read: \(error.reason)")
        }
        do throws(PolicyRefusal) {
            return try PolicyRelease(bytes: bytes)
        } catch {
            throw SluiceError(.invalidArgument, "\(file): \(error.reason)")
        }
    }

    private func write(_ bytes: [UInt8], to file: String) throws(SluiceError) {
        do throws(SystemFailure) {
            try FileDraft.replace(file, with: bytes)
        } catch {
            throw SluiceError(.invalidArgument, "\(file): the file cannot be written: \(error.reason)")
        }
    }
}

extension PolicyDevice.State {
    /// The state as JSON.
    package var json: JSON {
        func number(_ version: Int?) -> JSON { version.map { JSON($0) } ?? .null }
        return [
            "form": 1, "serving": number(serving),
            "servingSince": servingSince.map { JSON($0.description) } ?? .null,
            "trial": number(trial), "previous": number(previous),
            "settled": number(settled),
            "probation": JSON(isOnProbation), "trialSeconds": JSON(Int(trialTime.components.seconds)),
            "trialTally": trialTally.json, "probationSeconds": JSON(Int(probationTime.components.seconds)),
            "probationTally": probationTally.json, "name": past.name.map { JSON($0) } ?? .null,
            "version": JSON(past.version),
            "digests": JSON(
                members: past.digests.sorted { $0.key < $1.key }.map { (PropertyName($0.key), JSON($0.value)) }),
            "revoked": JSON(past.revoked.sorted().map { JSON($0) }),
            "latest": past.latest.map { JSON($0.description) } ?? .null,
            "withdrawn": JSON(
                members: past.withdrawn.sorted { $0.key < $1.key }.map {
                    (PropertyName(String($0.key)), JSON($0.value))
                }),
        ]
    }

    /// Reads a state; nil if it is none.
    package init?(_ json: JSON) {
        guard json["form"]?.int == 1, let version = json["version"]?.int, let probation = json["probation"]?.bool else {
            return nil
        }
        self.init()
        func number(_ name: PropertyName) -> Int? { json[name]?.int.map { Int($0) } }
        (serving, trial, previous) = (number("serving"), number("trial"), number("previous"))
        settled = number("settled")
        servingSince = json["servingSince"]?.string.flatMap { Timestamp($0) }
        isOnProbation = probation
        trialTime = .seconds(json["trialSeconds"]?.int ?? 0)
        probationTime = .seconds(json["probationSeconds"]?.int ?? 0)
        trialTally = PolicyTally(json["trialTally"] ?? .object)
        probationTally = PolicyTally(json["probationTally"] ?? .object)
        past.name = json["name"]?.string
        past.version = Int(version)
        for (name, digest) in json["digests"]?.members ?? [] { past.digests[name.text] = digest.string }
        past.revoked = Set((json["revoked"]?.elements ?? []).compactMap(\.string))
        past.latest = json["latest"]?.string.flatMap { Timestamp($0) }
        for (version, reason) in json["withdrawn"]?.members ?? [] {
            if let version = Int(version.text) { past.withdrawn[version] = reason.string }
        }
    }
}
