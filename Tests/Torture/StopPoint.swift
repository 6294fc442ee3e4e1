import Sluice
import Synchronization

/// A commit point at which a process stands still, so that it is ended there.
struct StopPoint {
    private let place: String?
    private let occurrence: Int

    /// - Parameters:
    ///   - place: such as `applied/before`; nil for nowhere.
    ///   - occurrence: at which of its occurrences, from 1.
    init(_ place: String?, _ occurrence: Int) {
        self.place = place
        self.occurrence = occurrence
    }

    /// Announces the point to stand still at as `S point/side`.
    var environment: SyncEnvironment {
        var environment = SyncEnvironment.system
        let left = Mutex(occurrence)
        let stopAt = place
        environment.reached = { point, side in
            let place = "\(point.rawValue)/\(side.rawValue)"
            guard place == stopAt else { return }
            let isHere = left.withLock { left in
                left -= 1
                return left == 0
            }
            guard isHere else { return }
            WorkerCommand.say("S \(place)")
            // The rest of the process goes on until it is ended.
            while true { try await Task.sleep(for: .seconds(60)) }
        }
        return environment
    }
}
