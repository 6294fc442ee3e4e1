internal import Synchronization

/// Lines on standard output of a command that goes on after them: it learns at its end whether one was lost.
final class OutputLines: Sendable {
    private let failure = Mutex<StreamFailure?>(nil)

    func write(_ line: String) {
        do { try StandardStream.output.write(line: line) } catch {
            failure.withLock { $0 = $0 ?? error as? StreamFailure }
        }
    }

    /// - Throws: ``StreamFailure``: the reason why the first lost line was lost.
    func check() throws {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
