package import SluiceBase

/// What a status shows whatever was asked.
package enum AnswerStatus {
    /// Whether a server, or something on the way to it, reports by that status that it cannot now or wants other
    /// credentials: it is about no request in particular, however often it comes. A network with a login page redirects
    /// or answers 511 (RFC 6585 §6), a proxy asks for credentials of its own with 407 (RFC 9110 §15.5.8), a server whose
    /// disk is full answers 507 (RFC 4918 §11.5). 304 answers a condition.
    package static func isPassing(_ status: Int) -> Bool {
        (300..<400).contains(status) && status != 304
            || [401, 407, 408, 425, 429, 502, 503, 504, 507, 511].contains(status)
    }

    /// Whether an answer of that status shows that nothing was done: the server could not take the request now, did not
    /// get all of it in time (408, RFC 9110 §15.5.9), or something on the way has not passed it on. 502 and 504 do not:
    /// those are of a proxy that did not get the server's answer. Nor does 507, said in the midst of it.
    package static func showsNothingDone(_ status: Int) -> Bool {
        isPassing(status) && ![502, 504, 507].contains(status)
    }
}

extension SluiceError.Code {
    /// What a status that is an error stands for, to a request of a table; nil for one below 400 or above 599.
    ///
    /// Datasync servers may be set to say "not for you" with any status from 400 to 499: 401 is the usual one, 403 and
    /// 451 are meant so as well.
    package init?(status: Int) {
        switch status {
        case 401: self = .unauthorized
        case 403, 451: self = .forbidden
        // A record that is marked as deleted is 404 to Mobile Apps and 410 to Datasync.
        case 404, 410: self = .notFound
        // No answer in time, too early, too many requests, a proxy that lets nothing pass: not what was asked, but when.
        case 407, 408, 425, 429: self = .serverFailure
        case 409: self = .conflict
        case 412: self = .preconditionFailed
        case 413, 414, 431: self = .tooLarge
        case 400...499: self = .rejected
        case 500...599: self = .serverFailure
        default: return nil
        }
    }
}

extension ServerMessage {
    /// What a redirect says of the way to the server.
    static let redirect =
        "a redirect, which is not followed: check the endpoint, and whether a login page is in the way"

    /// What a status means where the server reports nothing itself; nil where its name says enough.
    static func meaning(ofStatus status: Int) -> String? {
        switch status {
        case 300..<304, 305..<400: redirect
        case 405: "this operation is switched off for the table"
        case 410: "the record is deleted"
        case 413: "the record is larger than the server takes"
        case 414: "the query is longer than the server takes: ask for less at once"
        case 415: "the server does not take this kind of content"
        case 428: "the server takes changes under a condition only: read the record and give its version"
        case 429: "the server gets too many requests: try later"
        case 503: "the server cannot answer now: try later"
        default: nil
        }
    }
}
