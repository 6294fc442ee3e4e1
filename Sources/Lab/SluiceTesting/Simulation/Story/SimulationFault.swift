/// What can go wrong in a simulation. Each seed turns some of them on, each with a probability of its own.
public enum SimulationFault: String, Sendable, Hashable, CaseIterable {
    /// A request is lost before the server sees it.
    case dropRequest
    /// No connection comes about, and the transport says so.
    case refuseConnection
    /// The server does what it is asked, and the answer is lost.
    case dropAnswer
    /// A request or an answer is lost, and nobody is told: the exchange ends at its deadline.
    case silence
    /// A request reaches the server twice.
    case duplicate
    /// The device gives an exchange up while its request is still on its way.
    case lateRequest
    /// An answer's body ends in the middle.
    case cutBody
    /// 429 with `Retry-After`.
    case tooManyRequests
    /// 503, with `Retry-After` or without.
    case unavailable
    /// 500 before anything was done.
    case failBefore
    /// 500 after it was done.
    case failAfter
    /// 401, then good again.
    case unauthorized
    /// 409 or 412 without a record.
    case bareConflict
    /// 204 where a record was due.
    case noContent
    /// 404 for a delete that was done.
    case notFoundAfterDelete
    /// 400 for a change that is perfectly right.
    case refusal
    /// A web page with status 200.
    case webPage
    /// 403 for what is perfectly allowed.
    case forbidden
    /// 200 with the record as it was, and the update was not done.
    case unchanged
    /// 404 to a delete that was not done.
    case falseNotFound
    /// 200 with an error in the body, and the change was not done.
    case falseSuccess
    /// The server sends pages of another size from now on.
    case pageSize
    /// The server's clock goes back, by less than the commit lag.
    case clockBack
    /// The server's clock is set back by ten minutes or more, and rows are written in the repeated time.
    case clockSetBack
    /// A row's time of change is older than its commit.
    case lateCommit
    /// Several rows have one time of change.
    case equalTimes
    /// The server forgets what it remembered of requests.
    case forgetRequests
    /// A transaction of the local store fails.
    case storeFailure
    /// A read of the local store fails, or a transaction in its midst or at its end, with any of a disk's errors.
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
    /// A conflict handler takes its time, and edits are made meanwhile.
    case handlerEdits
    /// The device's clock is wrong by up to ten years.
    case clockSkew
    /// A filter on the way fails.
    case filterThrows
    /// A filter on the way answers a change with the request's own body.
    case filterEchoes
    /// The server takes a user's token no more.
    case tokenExpires
    /// No new token is to be had.
    case tokenFails
    /// A read is answered by a replica that has not heard of the last writes yet.
    case staleRead
    /// 200 with some of the rows, or of a record's properties, and an error beside them.
    case errorBesideRows
    /// 503, 425, 429 or 408 to a change, and to those that the device sends next.
    case staysBusy
    /// One of the tables answers 404, 403 or 500 for a while.
    case tableFails
}
