internal import HTTPTypes

/// How a list is asked for in the order in which its rows were committed, from a token on.
///
/// the request sends `Prefer: odata.track-changes` (OData 4.01 protocol, section 8.2.8.6). A server that can follow
/// changes answers each page with `X-Sluice-Delta-Token`; the next request carries it as `$deltatoken` and brings what
/// was committed since, tombstones included. An empty page ends the run; a token that is no longer known is 410.
package enum ChangeTokens {
    /// Asks for a page that begins a run.
    package static func begin(_ request: inout Request) {
        if let prefer = HTTPField.Name("Prefer") { request.head.headerFields[prefer] = "odata.track-changes" }
    }

    /// Asks for the page after a token.
    package static func follow(_ token: String, _ request: inout Request) {
        begin(&request)
        guard let path = request.head.path else { return }
        var query = QueryString(ofPath: path)
        query["$deltatoken"] = token
        request.head.path = query.path
    }

    /// The token after the answer's page; nil from a server that follows no changes.
    package static func token(in response: Response) -> String? {
        guard let name = HTTPField.Name("X-Sluice-Delta-Token"), let token = response.head.headerFields[name],
            !token.isEmpty
        else { return nil }
        return token
    }
}
