internal import SluiceBase
internal import SluiceWire

extension PushWorker {
    /// Repeats an earlier revision of the operation under its own request id, to learn what became of it.
    ///
    /// The record is known to be another than the one that it was made on. So a server that remembers requests answers
    /// with what it remembers, or refuses what it has never done.
    ///
    /// - Returns: the answer; nil where the filters make another request of it than they did then.
    func ask(_ item: PushItem, about sent: SentBody) async throws -> OperationSession.Event {
        var earlier = item
        earlier.operation.revision = sent.revision
        earlier.local = sent.local
        // A change that a delete has become since, or the other way round, is asked about as what it was.
        if sent.local == nil { earlier.operation.kind = .delete }
        let requests = PushRequests(dialect: client.dialect, endpoint: client.endpoint, localOnly: options.localOnly)
        var request = try requests.request(for: earlier)
        let id = earlier.operation.requestID
        request.context.seal = { final in
            guard let repeated = FinalRequest(final).repeating(sent) else { throw SealRefused() }
            return sent.identify(repeated, as: id)
        }
        do {
            return .asked(answer(try await client.send(request), for: item))
        } catch  where Self.isRefusal(error) {
            return .asked(nil)
        }
    }
}
