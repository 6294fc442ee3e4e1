internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire
internal import Synchronization

/// Whether the server takes batches, as far as the last one that was sent has shown. It is remembered for the context's
/// life: while the server takes none, groups alone try it; where it stored one as a record nothing does.
final class BatchSupport: Sendable {
    /// What an answer to a batch shows.
    enum Verdict: Sendable {
        /// Nothing against batches.
        case taken
        /// The server refuses the address or the method.
        case unknown
        /// It did something else with it, and it is unknown what.
        case mistaken
    }

    /// The header field with which a server says in its answers how many requests a batch may have.
    static let offerName = HTTPField.Name("X-Sluice-Batch")

    private struct State {
        var latest = Verdict.taken
        /// How many requests a batch may have, as the server says; nil while it has said nothing.
        var offered: Int?
        /// Whether something in front of the gatherer lets requests through one by one only.
        var isStalled = false
    }

    private let state = Mutex(State())

    /// How many operations may go in one request now: 1 where the server has said that it knows no batches.
    ///
    /// - Parameter wanted: ``SyncOptions/batchSize``.
    func size(_ wanted: Int?) -> Int {
        state.withLock { state in
            guard state.latest == .taken else { return 1 }
            if let wanted { return wanted }
            return state.isStalled ? 1 : state.offered ?? 1
        }
    }

    /// Notes what an answer of the server says about batches.
    func noteOffer(in response: Response) {
        guard let name = Self.offerName, let text = response.head.headerFields[name], let count = Int(text), count > 0
        else { return }
        state.withLock { $0.offered = min(count, Self.mostParts) }
    }

    /// Notes that requests which were to go together did not come together. Nobody has asked for batches, so there are
    /// no more of them.
    func noteStall() { state.withLock { $0.isStalled = true } }

    /// The largest ``SyncOptions/batchSize``.
    private static let mostParts = 100

    /// Whether a batch may be sent. Nothing else can carry a group, and a server that was being set up may be ready
    /// now.
    func mayTake(group: Bool) -> Bool {
        let latest = state.withLock { $0.latest }
        return latest == .taken || (latest == .unknown && group)
    }

    /// Notes an answer to a batch, and returns what it shows.
    func note(_ response: Response) -> Verdict {
        let isTaken = (200..<300).contains(response.status)
        let document = isTaken ? try? response.body.json : nil
        let verdict: Verdict =
            [400, 404, 405, 410, 415, 501].contains(response.status)
            ? .unknown : document?.kind == .object && document?["responses"] == nil ? .mistaken : .taken
        // What stores a batch as a record would store another each time; a page of a gateway's may be gone by then.
        let isStored = response.status == 201 || document?["id"] != nil
        if isTaken || verdict != .taken {
            state.withLock { $0.latest = verdict == .mistaken && !isStored ? .unknown : verdict }
        }
        return verdict
    }

    /// Whether an answer to a whole batch shows nothing of its parts: no part was in conflict, too large, or gone. These
    /// are all statuses of 4xx except those about who asks, or about the server's state, which are about each part.
    static func saysNothingOfParts(_ response: Response) -> Bool {
        (400..<500).contains(response.status) && ![402, 403].contains(response.status)
            && !AnswerStatus.isPassing(response.status)
    }
}
