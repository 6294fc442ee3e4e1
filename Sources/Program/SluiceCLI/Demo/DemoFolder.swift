internal import Foundation
internal import UnixSignals

/// The folder of the demo's files: a temporary one that is removed, or one that is kept.
struct DemoFolder {
    let path: String
    let isKept: Bool

    /// Makes the folder; a new one is for its owner only.
    ///
    /// - Throws: ``CommandFailure`` if `keep` already holds something: an earlier demo's data would be mixed with this
    ///   one's.
    init(keep: String?) throws {
        let files = FileManager.default
        isKept = keep != nil
        path = keep ?? files.temporaryDirectory.appendingPathComponent("sluice-demo-\(UUID().uuidString)").path
        do {
            try files.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            guard try files.contentsOfDirectory(atPath: path).isEmpty else {
                throw CommandFailure.usage("the folder \(path) is not empty; the demo wants a new one")
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure.usage("the folder \(path) cannot be made: \(error.localizedDescription)")
        }
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    private var passing: String { file("passing") }

    /// Returns the path of a file that is not kept, even in a kept folder: it is removed by ``removePassing()``, or at
    /// the latest when ``use(_:)`` ends.
    func passingFile(_ name: String) throws -> String {
        try FileManager.default.createDirectory(
            atPath: passing, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return "\(passing)/\(name)"
    }

    /// Removes the files that are not kept.
    func removePassing() { try? FileManager.default.removeItem(atPath: passing) }

    /// Runs `body`, and removes the temporary files after it, however it ends, or when the program is interrupted.
    func use<Result>(_ body: () async throws -> Result) async throws -> Result {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let watch = Task {
            for await signal in signals {
                remove()
                // The code by which shells report that a signal ended a program.
                exit(128 + signal.rawValue)
            }
        }
        defer {
            watch.cancel()
            remove()
        }
        return try await body()
    }

    private func remove() {
        removePassing()
        if !isKept { try? FileManager.default.removeItem(atPath: path) }
    }
}
