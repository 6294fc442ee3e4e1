/// A fault of a simulation. Each seed turns some of them on, each with a probability of its own.
public enum SimulationFault: String, Sendable, Hashable, CaseIterable, Codable, CodingKeyRepresentable {
    /// A request is lost before the server sees it.
    case dropRequest
    /// No connection is established, and the transport reports it.
    case refuseConnection
    /// The server performs the request, and the answer is lost.
    case dropAnswer
    /// A request or an answer is lost without an error: the exchange ends at its deadline.
    case silence
    /// A request reaches the server twice.
    case duplicate
    /// The device gives up on an exchange while its request is still on its way.
    case lateRequest
    /// An answer's body ends in the middle.
    case cutBody
    /// 429 with `Retry-After`.
    case tooManyRequests
    /// 503, with `Retry-After` or without.
    case unavailable
    /// 500 before anything was performed.
    case failBefore
    /// 500 after the change was performed.
    case failAfter
    /// 401 to one request.
    case unauthorized
    /// 409 or 412 without a record.
    case bareConflict
    /// 204 where a record was due.
    case noContent
    /// 404 for a delete that was performed.
    case notFoundAfterDelete
    /// 400 for a valid change.
    case refusal
    /// A web page with status 200.
    case webPage
    /// 403 for an allowed request.
    case forbidden
    /// 200 with the unchanged record: the update was not performed.
    case unchanged
    /// 404 to a delete that was not performed.
    case falseNotFound
    /// 200 with an error in the body: the change was not performed.
    case falseSuccess
    /// The server changes its page size.
    case pageSize
    /// The server's clock goes back, by less than the commit lag.
    case clockBack
    /// The server's clock is set back by ten minutes or more, and rows are written in the repeated time.
    case clockSetBack
    /// A row's time of change is older than its commit.
    case lateCommit
    /// Several rows have the same time of change.
    case equalTimes
    /// The server forgets the requests that it remembered.
    case forgetRequests
    /// A transaction of the local store fails.
    case storeFailure
    /// A read of the local store fails, or a transaction in the middle or at its end, with any of a disk's errors.
    case storeTrouble
    /// The process ends before or after a commit point.
    case crashAtCommitPoint
    /// The process ends before or after a transaction of the store, or between request and answer.
    case crashAtEffect
    /// The task of a push or pull is cancelled.
    case cancellation
    /// A conflict handler throws.
    case handlerThrows
    /// A conflict handler decides at random.
    case handlerGarbage
    /// A conflict handler takes its time, and edits are made while it runs.
    case handlerEdits
    /// The device's clock is wrong by up to ten years.
    case clockSkew
    /// A filter of the application fails.
    case filterThrows
    /// A filter of the application answers a change with the request's own body.
    case filterEchoes
    /// The server no longer accepts a user's token.
    case tokenExpires
    /// The token provider fails to get a new token.
    case tokenFails
    /// A replica answers a read without the last writes.
    case staleRead
    /// 200 with some of the rows, or of a record's properties, and an error beside them.
    case errorBesideRows
    /// 503, 425, 429 or 408 to a change, and to the next changes of the device.
    case staysBusy
    /// One of the tables answers 404, 403 or 500 for a while.
    case tableFails
}
