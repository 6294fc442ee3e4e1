internal import HTTPTypes
internal import SluiceCore

/// How the backend answers the clients of one generation: the server's side of a ``Dialect``, one value in one file.
struct ServerWire: Sendable {
    /// The body of a list.
    enum ListBody: Sendable {
        /// A bare array, or `{"results": […], "count": N}` where a count was asked for.
        case array
        /// `{"items": […]}` with `count` and `nextLink` where there are such, or with nulls in their place.
        case items(writesNulls: Bool)
    }

    /// How a list says where its next page is.
    enum NextPage: Sendable {
        /// `Link: URL; rel=next`, without angle brackets.
        case link
        /// `nextLink` is a URL; with `X-ZUMO-Options: nextLink=path` it begins with the path.
        case absolute
        /// `nextLink` is the query alone, without a question mark.
        case query
    }

    /// The body of a refusal.
    enum Failure: Sendable {
        /// `{"error": reason}`.
        case object
        /// RFC 9457: `{"type", "title", "status", "detail"}`.
        case problem
        /// The reason as a text where the request is wrong (400 and the like), nothing for 401, 404, 405 and 410.
        case text
    }

    /// What is done about columns that only the server sets, when a body holds them.
    enum Reserved: Sendable {
        /// They are refused with 400.
        case refused
        /// They are passed over: clients send records whole. A merge may not touch them.
        case ignored
    }

    /// How a tombstone is made a record again.
    enum Undelete: Sendable {
        /// `POST /tables/T/ID`: 201.
        case post
        /// `PATCH /tables/T/ID` with `{"deleted": false}`: 200.
        case patch
        /// `PUT /tables/T/ID?__includedeleted=true` with `deleted` not true: 200.
        case put
    }

    /// The name, as the client's settings have it: `azure-v2`.
    let name: String
    /// What clients call the server's columns.
    let names: SystemNames
    /// Whether the server's columns come back only when `__systemproperties` asks for them.
    var givesSystemColumnsOnRequest = false
    /// Whether integer ids are numbers; else they are texts as all others.
    var showsIntegerIDs = false
    /// What happens to the server's columns in a body.
    var reserved: Reserved
    /// Whether a column that the table does not have is an error; else it is null in every record.
    var refusesUnknownColumns: Bool
    /// Whether a change may be a PATCH.
    var patches: Bool
    /// How tombstones come back.
    var undelete: Undelete
    /// The status for a tombstone that is asked for by id.
    var tombstone: HTTPResponse.Status
    /// The body of a list.
    var list: ListBody
    /// Where the next page is told.
    var nextPage: NextPage
    /// The body of a refusal.
    var failure: Failure
    /// Whether a body must be declared as JSON.
    var requiresContentType: Bool
    /// Whether a stale version in the body, without `If-Match`, is a conflict (409).
    var comparesVersionInBody = false

    /// Whether requests are taken as the Node server takes them: an empty id counts as absent, a number is the id of that text,
    /// a PATCH of the table has the id in its body, and `If-Match` needs no quotes.
    var isLenient = false
    /// Whether reads show null for a property that a record lacks and another has ever had.
    var showsKnownProperties = false
    /// How many digits of a second the server's times show.
    var timeDigits = 3
    /// Whether a new record may take the place of a tombstone with its id; else it is a conflict.
    var insertsOverTombstones = false

    /// The methods of a table's path.
    var tableMethods: String { isLenient ? "GET, PATCH, POST" : "GET, POST" }

    /// The methods of a record's path.
    var recordMethods: String {
        let methods = patches ? ["GET", "PATCH", "PUT", "DELETE"] : ["GET", "PUT", "DELETE"]
        return (methods + (undelete == .post ? ["POST"] : [])).joined(separator: ", ")
    }
}

extension ServerWire {
    /// The wire that a request speaks. `ZUMO-API-VERSION`, in the query or else in a header, says 2.0 or 3.0; without
    /// it an application's key (`X-ZUMO-APPLICATION`) marks Mobile Services, and a request with neither is Datasync's.
    ///
    /// - Throws: ``Refusal`` (400) for another version.
    static func of(_ head: HTTPRequest, _ target: RequestTarget) throws -> ServerWire {
        let field = HTTPField.Name("ZUMO-API-VERSION").flatMap { head.headerFields[$0] }
        guard let version = target.values("zumo-api-version").first ?? field else {
            let key = HTTPField.Name("X-ZUMO-APPLICATION").flatMap { head.headerFields[$0] }
            return key == nil ? datasync : azureV1
        }
        switch version {
        case let text where isVersion(text, "2.0."): return azureV2
        case let text where isVersion(text, "3.0."): return azureV3
        default:
            throw Refusal(
                .badRequest,
                "An invalid API version was specified in the request, this request needs to specify a "
                    + "ZUMO-API-VERSION of 2.0.0 or 3.0.0.")
        }
    }

    private static func isVersion(_ text: String, _ prefix: String) -> Bool {
        let last = text.dropFirst(prefix.count)
        return text.hasPrefix(prefix) && !last.isEmpty && last.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
