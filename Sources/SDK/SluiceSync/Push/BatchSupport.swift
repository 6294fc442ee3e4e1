package import HTTPTypes
internal import SluiceBase
internal import SluiceWire
internal import Synchronization

/// The server's support of batches, judged by the last one sent. It is kept for the context's life. While the server
/// refuses batches, only groups try them; after it has stored one as a record, nothing does.
package final class BatchSupport: Sendable {
    /// The conclusion from an answer to a batch.
    enum Verdict: Sendable {
        /// Nothing against batches.
        case taken
        /// The server refuses the address or the method.
        case unknown
        /// The server did something unknown with the batch.
        case mistaken
    }

    /// The header field in which a server announces the maximum of requests in a batch.
    package static let offerName = HTTPField.Name("X-Sluice-Batch")

    private struct State {
        var latest = Verdict.taken
        /// The maximum of requests in a batch announced by the server; nil before any announcement.
        var offered: Int?
    }

    private let state = Mutex(State())

    /// Returns the number of operations allowed in one request now: 1 if the server does not support batches.
    ///
    /// - Parameter wanted: ``SyncOptions/batchSize``.
    func size(_ wanted: Int?) -> Int {
        state.withLock { state in
            guard state.latest == .taken else { return 1 }
            if let wanted { return wanted }
            return state.offered ?? 1
        }
    }

    /// Notes an answer's announcement of batches.
    func noteOffer(in response: SyncResponse) {
        guard let name = Self.offerName, let text = response.head.headerFields[name], let count = Int(text), count > 0
        else { return }
        state.withLock { $0.offered = min(count, BatchDocument.mostParts) }
    }

    /// Whether a batch may be sent. A group is tried again after a refusal: it has no other way, and the server may
    /// support batches by now.
    func mayTake(group: Bool) -> Bool {
        let latest = state.withLock { $0.latest }
        return latest == .taken || (latest == .unknown && group)
    }

    /// Notes an answer to a batch, and returns the conclusion.
    func note(_ response: SyncResponse) -> Verdict {
        let isTaken = (200..<300).contains(response.status)
        let document = isTaken ? try? response.body.json : nil
        let verdict: Verdict =
            [400, 404, 405, 410, 415, 501].contains(response.status)
            ? .unknown : document?.kind == .object && document?["responses"] == nil ? .mistaken : .taken
        // A server that stores a batch as a record would do so each time; a gateway's page may be temporary.
        let isStored = response.status == 201 || document?["id"] != nil
        if isTaken || verdict != .taken {
            state.withLock { $0.latest = verdict == .mistaken && !isStored ? .unknown : verdict }
        }
        return verdict
    }

    /// Whether an answer to a whole batch says nothing about its parts, such as a conflict, a size or a missing record.
    /// That is each status of 4xx except the ones about the user or the server's state, which apply to each part.
    static func saysNothingOfParts(_ response: SyncResponse) -> Bool {
        (400..<500).contains(response.status) && ![402, 403].contains(response.status)
            && !AnswerStatus.isPassing(response.status)
    }
}
