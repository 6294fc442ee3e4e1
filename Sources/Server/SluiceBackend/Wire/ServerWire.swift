internal import HTTPTypes
internal import SluiceCore

/// The form of requests and answers for the clients of one generation: the server's side of a ``Dialect``, one value in
/// one file.
struct ServerWire: Sendable {
    /// The body of a list.
    enum ListBody: Sendable {
        /// A bare array, or `{"results": […], "count": N}` if a count was requested.
        case array
        /// `{"items": […]}` with `count` and `nextLink` if there are any, or with nulls instead.
        case items(writesNulls: Bool)
    }

    /// The form of a list's link to the next page.
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
        /// The reason as a text for a faulty request (400 and similar), and an empty body for 401, 404, 405 and 410.
        case text
    }

    /// The treatment of the server's columns in a body.
    enum Reserved: Sendable {
        /// They are refused with 400.
        case refused
        /// They are ignored, because clients send whole records. A merge must not change them.
        case ignored
    }

    /// The request that undeletes a tombstone.
    enum Undelete: Sendable {
        /// `POST /tables/T/ID`: 201.
        case post
        /// `PATCH /tables/T/ID` with `{"deleted": false}`: 200.
        case patch
        /// `PUT /tables/T/ID?__includedeleted=true` with `deleted` not true: 200.
        case put
    }

    /// The name from the client's settings: `azure-v2`.
    let name: String
    /// The clients' names of the server's columns.
    let names: SystemNames
    /// Whether the server's columns are returned only if `__systemproperties` asks for them.
    var givesSystemColumnsOnRequest = false
    /// Whether integer ids are numbers; otherwise they are texts like all others.
    var showsIntegerIDs = false
    /// The treatment of the server's columns in a body.
    var reserved: Reserved
    /// Whether an unknown column is an error; otherwise it is null in every record.
    var refusesUnknownColumns: Bool
    /// Whether a change may be a PATCH.
    var patches: Bool
    /// The request that undeletes a tombstone.
    var undelete: Undelete
    /// The status for a read of a tombstone by its id.
    var tombstone: HTTPResponse.Status
    /// The body of a list.
    var list: ListBody
    /// The form of the link to the next page.
    var nextPage: NextPage
    /// The body of a refusal.
    var failure: Failure
    /// Whether a body must be declared as JSON.
    var requiresContentType: Bool
    /// Whether a stale version in the body, without `If-Match`, is a conflict (409).
    var comparesVersionInBody = false

    /// Whether requests are accepted as by the Node server: an empty id counts as absent, a number as the id of its
    /// text, a PATCH of the table has the id in its body, and `If-Match` needs no quotes.
    var isLenient = false
    /// Whether reads show null for a missing property that another record has ever had.
    var showsKnownProperties = false
    /// The number of fractional digits of the server's times.
    var timeDigits = 3
    /// Whether an insert may replace a tombstone of the same id; otherwise it is a conflict.
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
    /// Returns the wire of a request. `ZUMO-API-VERSION` in the query or a header is 2.0 or 3.0. Without it, an
    /// application's key (`X-ZUMO-APPLICATION`) marks Mobile Services; a request with neither is Datasync's.
    ///
    /// - Throws: ``Refusal`` (400) for any other version.
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

extension ServerWire {
    /// The Datasync Community Toolkit, versions 8 to 10: no version header, only PUT for changes, links without a path.
    static let datasync = ServerWire(
        name: "datasync", names: SystemNames(hidden: [SystemColumn.createdAt]), reserved: .ignored,
        refusesUnknownColumns: true, patches: false, undelete: .put, tombstone: .gone,
        list: .items(writesNulls: true), nextPage: .query, failure: .text, requiresContentType: true)
}

extension ServerWire {
    /// Azure Mobile Services: system columns begin with two underscores and are sent only on request.
    static let azureV1 = ServerWire(
        name: "azure-v1", names: SystemNames(prefix: "__"), givesSystemColumnsOnRequest: true, showsIntegerIDs: true,
        reserved: .refused,
        refusesUnknownColumns: false, patches: true, undelete: .post, tombstone: .notFound, list: .array,
        nextPage: .link, failure: .object, requiresContentType: false)
}

extension ServerWire {
    /// Azure Mobile Apps, `ZUMO-API-VERSION` 2.0: with the answers of the Node and .NET servers.
    static let azureV2 = ServerWire(
        name: "azure-v2", names: SystemNames(), showsIntegerIDs: true, reserved: .refused, refusesUnknownColumns: false,
        patches: true,
        undelete: .post, tombstone: .notFound, list: .array, nextPage: .link, failure: .object,
        requiresContentType: false, comparesVersionInBody: true, isLenient: true, showsKnownProperties: true)
}

extension ServerWire {
    /// Azure Mobile Apps 5 and 6, `ZUMO-API-VERSION` 3.0: no `createdAt`, pages with an absolute link.
    static let azureV3 = ServerWire(
        name: "azure-v3", names: SystemNames(hidden: [SystemColumn.createdAt]), reserved: .ignored,
        refusesUnknownColumns: true, patches: true, undelete: .patch, tombstone: .gone,
        list: .items(writesNulls: false), nextPage: .absolute, failure: .problem, requiresContentType: true,
        isLenient: true, showsKnownProperties: true)
}

extension ServerWire {
    /// Tables in OData v2: the version is the entity tag, tombstones are hidden, and every property is declared.
    static let odataV2 = odata("odata-v2", refusesUnknownColumns: true)

    /// Tables in OData v4: as in v2, but with undeclared properties.
    static let odataV4 = odata("odata-v4", refusesUnknownColumns: false)

    private static func odata(_ name: String, refusesUnknownColumns: Bool) -> ServerWire {
        ServerWire(
            name: name, names: SystemNames(hidden: [SystemColumn.version, SystemColumn.deleted]), showsIntegerIDs: true,
            reserved: .ignored, refusesUnknownColumns: refusesUnknownColumns, patches: true, undelete: .post,
            tombstone: .notFound, list: .items(writesNulls: false), nextPage: .query, failure: .object,
            requiresContentType: false, isLenient: true, showsKnownProperties: true, timeDigits: 7,
            insertsOverTombstones: true)
    }
}
