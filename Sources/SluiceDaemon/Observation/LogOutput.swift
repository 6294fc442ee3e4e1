internal import Foundation
internal import Synchronization

/// Standard error as a log: a line that cannot be written ends no daemon and stops none.
///
/// A write into a pipe that nobody reads any more would wait for the reader. So a line is written once the system says
/// that there is room for it, and else lost, as on a full disk; the next one says how many were.
enum LogOutput {
    /// The number of lines that were lost since the last one that was written.
    private static let lost = Mutex(0)
    /// The time that a line waits for a reader that has fallen behind, in milliseconds; after a lost one none waits.
    private static let patience: Int32 = 200
    /// The number of bytes that a pipe with room takes without waiting (`PIPE_BUF`, pipe(7)).
    private static let most = 4096

    static func write(_ line: String) {
        lost.withLock { lost in
            let missed = lost == 0 ? "" : "sluice: lines of the log that could not be written: \(lost)\n"
            var rest = Array((missed + line + "\n").utf8)[...]
            while !rest.isEmpty {
                var end = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
                let isReady = poll(&end, 1, lost == 0 ? patience : 0)
                if isReady < 0, errno == EINTR { continue }
                let count = isReady > 0 ? put(rest.prefix(most)) : -1
                guard count >= 0 else {
                    lost += 1
                    return
                }
                rest = rest.dropFirst(count)
            }
            lost = 0
        }
    }

    /// Returns the number of bytes that were written; -1 where none could be.
    private static func put(_ bytes: ArraySlice<UInt8>) -> Int {
        while true {
            let count = bytes.withUnsafeBytes { Foundation.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count >= 0 || errno != EINTR { return count }
        }
    }
}
