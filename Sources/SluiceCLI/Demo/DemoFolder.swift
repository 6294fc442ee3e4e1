internal import Foundation

/// The folder in which the demo's files are: a temporary one that goes away, or one that is kept.
struct DemoFolder {
    let path: String
    let isKept: Bool

    /// Makes the folder.
    ///
    /// - Throws: ``CommandFailure`` where `keep` already holds something: an earlier demo's data would not be this one's.
    init(keep: String?) throws {
        let files = FileManager.default
        isKept = keep != nil
        path = keep ?? files.temporaryDirectory.appendingPathComponent("sluice-demo-\(UUID().uuidString)").path
        do {
            try files.createDirectory(atPath: path, withIntermediateDirectories: true)
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

    /// Removes a temporary folder.
    func leave() {
        if !isKept { try? FileManager.default.removeItem(atPath: path) }
    }
}
