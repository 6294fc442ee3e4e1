import SluiceCore
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

/// The requests that were made.
final class Asked: Sendable {
    private let list = Mutex<[String]>([])
    var all: [String] { list.withLock { $0 } }
    func add(_ text: String) { list.withLock { $0.append(text) } }
}

/// A clock that stands until it is set.
final class StillClock: Sendable {
    private let time: Mutex<Timestamp>
    init(_ time: Timestamp) { self.time = Mutex(time) }
    var now: Timestamp { time.withLock { $0 } }
    func advance(by duration: Duration) { time.withLock { $0 = $0.advanced(by: duration) } }
}
