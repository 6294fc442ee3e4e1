internal import SluiceCore

/// Checks that the database answers. All callers share one query at a time.
actor Readiness {
    /// The longest wait for an answer, and the time that an answer stays valid.
    private static let patience = Duration.seconds(2)
    private static let age = Duration.seconds(1)
    private static let look = Duration.milliseconds(20)

    private let database: any Storage
    private var isAsking = false
    private var answer: (isReady: Bool, at: ContinuousClock.Instant)?

    init(_ database: any Storage) { self.database = database }

    /// Whether the database has answered recently, or does in time.
    func isReady() async -> Bool {
        let begun = ContinuousClock.now
        if !isAsking, answer.map({ $0.at.duration(to: begun) > Self.age }) ?? true {
            isAsking = true
            Task { await ask() }
        }
        while isAsking, begun.duration(to: .now) < Self.patience {
            guard (try? await Task.sleep(for: Self.look)) != nil else { return false }
        }
        return !isAsking && answer?.isReady == true
    }

    private func ask() async {
        let found = try? await database.read { try BackendCatalog.identity($0) }
        answer = (found != nil, .now)
        isAsking = false
    }
}
