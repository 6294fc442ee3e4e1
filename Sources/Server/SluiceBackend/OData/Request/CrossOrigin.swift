internal import HTTPTypes

/// The headers that allow pages of other sites to use the service (CORS; Fetch Standard, section 3.2).
struct CrossOrigin: Sendable {
    private static let shown =
        "ETag, Location, OData-EntityId, OData-Version, DataServiceVersion, Preference-Applied, Retry-After, X-CSRF-Token"

    /// The allowed origins; `*` stands for all.
    let origins: Set<String>

    /// Adds the headers that allow the request's origin to read the answer, and for a preflight the allowed requests.
    func allow(_ head: HTTPRequest, _ headers: inout HTTPFields) {
        guard !origins.isEmpty else { return }
        headers[values: .vary].append("Origin")
        guard let origin = head.headerFields[.origin] else { return }
        let isNamed = origins.contains(origin)
        guard isNamed || origins.contains("*") else { return }
        headers[.accessControlAllowOrigin] = isNamed ? origin : "*"
        if isNamed { headers[.accessControlAllowCredentials] = "true" }
        headers[.accessControlExposeHeaders] = Self.shown
        guard head.method == .options, head.headerFields[.accessControlRequestMethod] != nil else { return }
        headers[.accessControlAllowMethods] = headers[.allow]
        headers[.accessControlAllowHeaders] = head.headerFields[.accessControlRequestHeaders]
        headers[.accessControlMaxAge] = "600"
    }
}
