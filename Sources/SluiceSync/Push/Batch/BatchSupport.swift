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

    private let latest = Mutex(Verdict.taken)

    /// Whether the server has answered that it knows no batches.
    var isMissing: Bool { latest.withLock { $0 != .taken } }

    /// Whether a batch may be sent. Nothing else can carry a group, and a server that was being set up may be ready
    /// now.
    func mayTake(group: Bool) -> Bool {
        let latest = latest.withLock { $0 }
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
            latest.withLock { $0 = verdict == .mistaken && !isStored ? .unknown : verdict }
        }
        return verdict
    }

    /// Whether an answer to a whole batch is one that a part of it could have, too, and so shows nothing of any: it was
    /// no part that was in conflict, or too large, or gone. What is about who asks, or about the server's state, is
    /// about each of them.
    static func saysNothingOfParts(_ response: Response) -> Bool {
        (400..<500).contains(response.status) && ![401, 402, 403, 407, 408, 429].contains(response.status)
    }
}
