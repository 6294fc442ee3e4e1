internal import HTTPTypes

/// Requests a list from a token on, in the order in which its rows were committed.
///
/// The request sends `Prefer: odata.track-changes` (OData 4.01 protocol, section 8.2.8.6). A server that can follow
/// changes answers each page with `X-Sluice-Delta-Token`. The next request carries it as `$deltatoken` and gets the
/// later commits, tombstones included. An empty page ends the run; a token that is no longer known is 410.
package enum ChangeTokens {
    /// Asks for a page that begins a run.
    package static func begin(_ request: inout SyncRequest) {
        if let prefer = HTTPField.Name("Prefer") { request.head.headerFields[prefer] = "odata.track-changes" }
    }

    /// Asks for the page after a token.
    package static func follow(_ token: String, _ request: inout SyncRequest) {
        begin(&request)
        guard let path = request.head.path else { return }
        var query = QueryString(ofPath: path)
        query["$deltatoken"] = token
        request.head.path = query.path
    }

    /// Returns the token after the answer's page; nil from a server that follows no changes.
    package static func token(in response: SyncResponse) -> String? {
        guard let name = HTTPField.Name("X-Sluice-Delta-Token"), let token = response.head.headerFields[name],
            !token.isEmpty
        else { return nil }
        return token
    }

    /// Whether nothing follows the answer's page for now, so that no further request is needed.
    package static func isLast(_ response: SyncResponse) -> Bool { flag("X-Sluice-Delta-End", in: response) }

    /// Whether the page lacks a change that only a reconcile finds.
    package static func hasGap(_ response: SyncResponse) -> Bool { flag("X-Sluice-Delta-Gap", in: response) }

    private static func flag(_ name: String, in response: SyncResponse) -> Bool {
        HTTPField.Name(name).flatMap { response.head.headerFields[$0] } == "true"
    }

    /// Adds the header fields of a server that tracks changes to an answer: the token after its page, the end and a
    /// gap.
    package static func answer(_ response: inout SyncResponse, token: String, isLast: Bool, hasGap: Bool) {
        let fields = [
            ("X-Sluice-Delta-Token", token), ("X-Sluice-Delta-End", isLast ? "true" : nil),
            ("X-Sluice-Delta-Gap", hasGap ? "true" : nil),
        ]
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { response.head.headerFields[name] = value }
        }
    }
}
