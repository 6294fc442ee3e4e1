internal import SluiceCore
internal import Synchronization

/// The error thrown to tasks of a process that has ended.
struct SimulatedCrash: Error {}

/// One run of a device's program, from its start to its end or its crash.
final class SimulatedProcess: Sendable {
    let device: Int
    let user: Int
    private let state = Mutex((isDead: false, crashes: ""))

    init(device: Int, user: Int) {
        self.device = device
        self.user = user
    }

    var isDead: Bool { state.withLock { $0.isDead } }
    /// The point at which the process ended.
    var place: String { state.withLock { $0.crashes } }

    /// Ends the process: all its later calls fail.
    func crash(_ place: @autoclosure () -> String) throws -> Never {
        end(place())
        throw SimulatedCrash()
    }

    func end(_ place: String) {
        state.withLock { state in
            if !state.isDead { state = (true, place) }
        }
    }

    func checkAlive() throws {
        if isDead { throw SimulatedCrash() }
    }
}
