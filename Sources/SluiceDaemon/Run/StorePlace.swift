internal import Foundation
internal import Sluice

/// Notices that the store's path leads to another file than the one that is open: a restored copy, what a recovery or a
/// conversion has made, or what a command has made where the file was moved away.
struct StorePlace: Sendable {
    private static let interval = Duration.milliseconds(250)
    /// The time between a file that could not be opened and the next look.
    private static let pause = Duration.seconds(10)

    let path: String
    let session: ClientSession

    /// Calls `replaced` as long as that is so, until the task is cancelled. Where there is no file at all nothing is made
    /// in its place: whoever has moved it may bring it back.
    func follow(_ replaced: @Sendable () async -> Void) async {
        while (try? await Task.sleep(for: Self.interval)) != nil {
            if session.isInPlace || !FileManager.default.fileExists(atPath: path) { continue }
            await replaced()
            guard (try? await Task.sleep(for: Self.pause)) != nil else { return }
        }
    }
}
