package import HTTPTypes
package import SluiceBase

/// The meaning of a status independent of the request.
package enum AnswerStatus {
    /// Whether the status means that the server or a proxy cannot answer now, or wants other credentials. Such an
    /// answer concerns no request in particular, even if it is repeated. A network with a login page redirects or
    /// answers 511 (RFC 6585 §6), a proxy asks for its own credentials with 407 (RFC 9110 §15.5.8), a server with a
    /// full disk answers 507 (RFC 4918 §11.5). 304 answers a condition.
    package static func isPassing(_ status: Int) -> Bool {
        (300..<400).contains(status) && status != 304
            || [401, 407, 408, 425, 429, 502, 503, 504, 507, 511].contains(status)
    }

    /// Whether an answer of that status proves that nothing was done. The server could not accept the request now, did
    /// not get all of it in time (408, RFC 9110 §15.5.9), or a proxy has not passed it on. 502 and 504 prove nothing:
    /// a proxy sends them without the server's answer. Nor does 507, because the request may have begun.
    package static func showsNothingDone(_ status: Int) -> Bool {
        isPassing(status) && ![502, 504, 507].contains(status)
    }

    /// Whether an answer of that status says that the server did not do what was asked. A failure (500) may come after
    /// it was done.
    package static func isRefusal(_ status: Int) -> Bool { (300..<500).contains(status) }

    /// The field of a 409 that this side has made from a failed creation and the row that a read found. It holds the
    /// service's own status.
    package static let ownStatus = HTTPField.Name("Sluice-Service-Status")
}

extension SluiceError.Code {
    /// The meaning of an error's status for a request of a table; nil for one below 400 or above 599.
    ///
    /// Datasync servers may be set to refuse access with any status from 400 to 499. 401 is the usual one; 403 and 451
    /// are treated as refused access too.
    package init?(status: Int) {
        switch status {
        case 401: self = .unauthorized
        case 403, 451: self = .forbidden
        // A record that is marked as deleted is 404 in Mobile Apps and 410 in Datasync.
        case 404, 410: self = .notFound
        // No answer in time, too early, too many requests, a proxy that blocks all: the time is wrong, not the
        // request.
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
    /// The message for a redirect.
    static let redirect =
        "a redirect, which is not followed: check the endpoint, and whether a login page is in the way"

    /// Returns the meaning of a status without a message of the server; nil where its name is enough.
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
