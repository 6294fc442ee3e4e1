import Sluice
import Synchronization

/// A commit point at which a process stands still, so that it is ended there.
struct StopPoint {
    /// The name that stands for every commit point.
    static let any = "any"
    /// After how many commit points, of whatever name, a process stands still that has not come to its own.
    static let most = 400

    private let place: String?
    private let occurrence: Int

    /// - Parameters:
    ///   - place: such as `applied/before`, or ``any``; nil for nowhere.
    ///   - occurrence: at which of its occurrences, from 1.
    init(_ place: String?, _ occurrence: Int) {
        self.place = place
        self.occurrence = occurrence
    }

    /// Announces the point to stand still at as `S point/side`, and one that was missed as `M`.
    var environment: SyncEnvironment {
        var environment = SyncEnvironment.system
        guard let stopAt = place else { return environment }
        let counts = Mutex((left: occurrence, all: 0))
        environment.reached = { point, side in
            let place = "\(point.rawValue)/\(side.rawValue)"
            let (left, all) = counts.withLock { counts in
                if stopAt == Self.any || stopAt == place { counts.left -= 1 }
                counts.all += 1
                return counts
            }
            let isHere = left == 0 && (stopAt == Self.any || stopAt == place)
            guard isHere || left > 0 && all == Self.most else { return }
            WorkerCommand.say(isHere ? "S \(place)" : "M")
            // The rest of the process goes on until it is ended.
            while true { try await Task.sleep(for: .seconds(60)) }
        }
        return environment
    }
}
