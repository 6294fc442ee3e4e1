import SluiceStores
import Synchronization

/// Counts from 1.
final class Counter: Sendable {
    private let value = Mutex(0)
    func next() -> Int {
        value.withLock {
            $0 += 1
            return $0
        }
    }
}

/// The progress that was reported.
final class Seen: Sendable {
    private let list = Mutex<[DownloadProgress]>([])
    var all: [DownloadProgress] { list.withLock { $0 } }
    func add(_ progress: DownloadProgress) { list.withLock { $0.append(progress) } }
}
