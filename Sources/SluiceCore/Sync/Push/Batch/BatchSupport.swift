internal import Synchronization

/// Whether the server takes batches, as far as the last one that was sent has shown. It is remembered for the context's
/// life: while the server takes none, groups alone try it.
final class BatchSupport: Sendable {
    private let isRefused = Mutex(false)

    /// Whether the server has said that it knows no batches.
    var isMissing: Bool { isRefused.withLock { $0 } }

    /// Notes an answer to a batch; true if it says that the server knows none: it refuses the address or the method, or
    /// takes the batch for a record.
    func isMissing(by response: Response) -> Bool {
        let isUnknown = [400, 404, 405, 410, 415, 501].contains(response.status)
        let isTaken = (200..<300).contains(response.status)
        let document = isTaken ? try? response.body.json : nil
        let isMissing = isUnknown || (document?.kind == .object && document?["responses"] == nil)
        if isMissing || isTaken { isRefused.withLock { $0 = isMissing } }
        return isMissing
    }

    /// Whether an answer to a whole batch is one that a part of it could have, too, and so says nothing of any: it was
    /// no part that was in conflict, or too large, or gone. What is about who asks, or about the server's state, is
    /// about each of them.
    static func saysNothingOfParts(_ response: Response) -> Bool {
        (400..<500).contains(response.status) && ![401, 402, 403, 407, 408, 429].contains(response.status)
    }
}
