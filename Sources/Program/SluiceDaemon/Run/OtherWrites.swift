internal import Foundation
internal import Sluice

/// Notices operations that other processes queue in the store: a context is notified only of its own writes.
///
/// SQLite appends each commit to its log beside the store, so checking that file's time costs almost nothing. The queue
/// is read only after a change of it.
struct OtherWrites: Sendable {
    /// The state of the queue by which an addition is noticed.
    private struct Mark: Hashable {
        var pending: Int
        var newest: String?
    }

    private static let interval = Duration.milliseconds(250)

    let path: String
    let context: SyncContext

    /// Calls `changed` after each addition until the task is cancelled.
    func follow(_ changed: @Sendable () -> Void) async {
        var status = logStatus
        var mark = await currentMark()
        while (try? await Task.sleep(for: Self.interval)) != nil {
            let now = logStatus
            if now == status { continue }
            status = now
            let next = await currentMark()
            if next != mark, next?.pending ?? 0 > 0 { changed() }
            mark = next
        }
    }

    private var logStatus: FileStatus? { FileStatus("\(path)-wal") }

    private func currentMark() async -> Mark? {
        try? await context.store.read { reader in
            let waiting = TableQuery("sluice_operations").where(column("state") == "pending")
            var newest = TableQuery("sluice_operations", order: [.init("sequence", descending: true)])
            newest.top = 1
            return Mark(
                pending: try reader.count(matching: waiting),
                newest: try reader.records(matching: newest).first?["id"]?.string)
        }
    }
}
