internal import HTTPTypes
package import SluiceBase
package import SluiceWire
internal import Synchronization

/// One service with the state of its requests: its version's header fields, its cookies, and the token against forged
/// requests that SAP's services require with each change.
///
/// A change that is refused for a missing token is sent once more with one; from then on all changes carry it. Tasks
/// that need it at the same time share one request.
final class ServiceExchange: Sendable {
    private struct State {
        var token: String?
        var cookies: [String: String] = [:]
    }

    let version: ODataVersion
    let endpoint: Endpoint
    private let inner: any Transport
    private let state = Mutex(State())
    private let fetching = SharedReading<String?>()
    /// The cookies and tokens from the service: its refusals may repeat them.
    private let given = CredentialBook()

    init(version: ODataVersion, endpoint: Endpoint, inner: any Transport) {
        self.version = version
        self.endpoint = endpoint
        self.inner = inner
    }

    /// Fields that the adapter sets itself, or that belong to the tables wire.
    private static let replaced: Set<String> = [
        "accept", "content-type", "content-length", "if-match", "if-none-match", "prefer", "zumo-api-version",
        "content-encoding",
    ]

    /// Returns a request to the service with the header fields of the original one.
    func request(
        _ method: HTTPRequest.Method, _ path: String, for origin: SyncRequest, fields: [(String, String)] = [],
        body: JSON? = nil
    ) -> SyncRequest {
        var head = HTTPRequest(method: method, scheme: endpoint.scheme, authority: endpoint.authority, path: path)
        for field in origin.head.headerFields where !Self.replaced.contains(field.name.canonicalName) {
            head.headerFields.append(field)
        }
        head.headerFields[.accept] = "application/json"
        if body != nil { head.headerFields[.contentType] = "application/json" }
        for (name, value) in version.headers + fields {
            if let name = HTTPField.Name(name) { head.headerFields[name] = value }
        }
        var request = SyncRequest(head, body: body.map { MessageBody(json: $0) } ?? .empty)
        request.context = origin.context
        return request
    }

    /// Returns the path of an address below the service's root, with the endpoint's own query and these parameters.
    func path(_ segments: [String], _ parameters: [(name: String, value: String)] = []) -> String {
        // A dollar stays as it is: `$metadata`.
        let path = segments.map { "/" + PercentEncoding.query($0, keeping: "$'(),=") }.joined()
        let target = endpoint.target([], parameters)
        let query = target.firstIndex(of: "?").map { target[$0...] } ?? ""
        return endpoint.path + path + query
    }

    /// Returns the path of a row.
    func path(of key: EntityKey, in set: EntitySet) -> String {
        path(["\(set.name)(\(key.predicate(in: set, version: version)))"])
    }

    /// Returns the path of a link to a page of the set.
    func path(of link: String, to set: EntitySet) throws(SluiceError) -> String {
        let base = path([set.name]).prefix { $0 != "?" }
        return try ServiceLink.path(of: link, from: String(base), endpoint: endpoint)
    }

    /// Sends a request. The body of a refusal becomes JSON with the service's message, in any format.
    func send(_ request: SyncRequest) async throws -> SyncResponse {
        var (response, used) = try await passed(request)
        let isChange = request.head.method != .get && request.head.method != .head
        if isChange, response.status == 403, Self.wantsToken(response) {
            if try await freshToken(insteadOf: used, for: request) != nil {
                response = try await passed(request).response
            }
        }
        return told(response)
    }

    /// Returns a refusal with the service's message as JSON.
    func told(_ response: SyncResponse) -> SyncResponse {
        guard response.status >= 400 else { return response }
        var response = response
        if let document = ServiceError.document(response.body) { response.body = MessageBody(json: document) }
        response.body = given.hiding(response.body)
        // Another client holds a lock for a while (RFC 4918, section 11.3), or the token just fetched is not known where the
        // request arrived: the same request may succeed later.
        if response.status == 423 || response.status == 403 && Self.wantsToken(response) {
            response.head.status = .serviceUnavailable
        }
        return response
    }

    private static let csrf = HTTPField.Name("X-CSRF-Token")

    private static func wantsToken(_ response: SyncResponse) -> Bool {
        csrf.flatMap { response.head.headerFields[$0] }?.lowercased() == "required"
    }

    /// Sends a request to another origin. The service's cookies and tokens are not sent there, and those of that origin
    /// are not kept.
    func passedElsewhere(_ request: SyncRequest) async throws -> SyncResponse { try await inner.send(request) }

    /// Sends a request unchanged except for the service's cookies and token, and returns the token that went with it: by
    /// the time of the answer another task may have fetched the next one.
    private func passed(_ request: SyncRequest) async throws -> (response: SyncResponse, token: String?) {
        var request = request
        let (token, cookies) = state.withLock { ($0.token, $0.cookies) }
        if !cookies.isEmpty {
            let own = request.head.headerFields[.cookie].map { [$0] } ?? []
            let pairs = cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            request.head.headerFields[.cookie] = (own + pairs).joined(separator: "; ")
        }
        if let name = Self.csrf, let token, request.head.headerFields[name] == nil, request.head.method != .get {
            request.head.headerFields[name] = token
        }
        noteGiven(token, cookies)
        let response = try await inner.send(request)
        keepCookies(of: response)
        return (response, Self.csrf.flatMap { request.head.headerFields[$0] })
    }

    private func noteGiven(_ token: String?, _ cookies: [String: String]) {
        guard token != nil || !cookies.isEmpty else { return }
        var head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil)
        for value in cookies.values where HTTPField.isValidValue(value) {
            head.headerFields.append(HTTPField(name: .cookie, value: value))
        }
        if let name = Self.csrf { head.headerFields[name] = token }
        given.note(head)
    }

    private func keepCookies(of response: SyncResponse) {
        let fields = response.head.headerFields[values: .setCookie]
        guard !fields.isEmpty else { return }
        state.withLock { state in
            for field in fields.prefix(50) {
                let parts = field.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
                guard let pair = parts.first, let equals = pair.firstIndex(of: "="), equals != pair.startIndex,
                    pair.utf8.count <= 4096
                else { continue }
                let name = String(pair[..<equals])
                let value = String(pair[pair.index(after: equals)...])
                let isOver = value.isEmpty || parts.dropFirst().contains { $0.lowercased() == "max-age=0" }
                if isOver {
                    state.cookies[name] = nil
                } else if state.cookies.count < 50 || state.cookies[name] != nil {
                    state.cookies[name] = value
                }
            }
        }
    }

    /// Returns a token other than the refused one; nil if the service gives none.
    private func freshToken(insteadOf used: String?, for request: SyncRequest) async throws -> String? {
        @Sendable func known() -> String? { state.withLock { $0.token }.flatMap { $0 == used ? nil : $0 } }
        if let token = known() { return token }
        func fetched() async throws -> String? {
            // Another task may have fetched one since: a second fetch would end the session of the first.
            try await fetching.value {
                if let token = known() { token } else { try await self.fetchToken(for: request) }
            }
        }
        let token = try await fetched()
        // The fetch of a task that has sent none yet brings the one that was refused here.
        return token == used && token != nil ? try await fetched() : token
    }

    private func fetchToken(for request: SyncRequest) async throws -> String? {
        // With the slash at the end: some services redirect without it, and the token is lost.
        var fetch = self.request(.get, endpoint.path + "/", for: request, fields: [("X-CSRF-Token", "Fetch")])
        fetch.context = SyncRequest.Context(source: request.context.source, limits: request.context.limits)
        let response = try await passed(fetch).response
        let token = Self.csrf.flatMap { response.head.headerFields[$0] }
            .flatMap { $0.isEmpty || $0.lowercased() == "required" ? nil : $0 }
        state.withLock { $0.token = token }
        return token
    }
}

/// Returns the executor that the calling task prefers, for a task that works for several callers: with one thread for
/// all work, that thread is used too.
func currentTaskExecutor() -> (any TaskExecutor)? {
    withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
}

/// Converts a link of an answer, to a next page or to changes, to a path for requests. Its query is used as it is; of
/// its path only the part below the service's root is used (``PageLink``).
package enum ServiceLink {
    /// Returns the path with query. A relative link is below the service's root.
    ///
    /// - Parameter base: the path of the set whose pages the links lead to, without a query.
    /// - Throws: ``SluiceError`` of code `brokenProtocol` for an address other than HTTP, and for one with a step
    ///   upwards.
    package static func path(of link: String, from base: String, endpoint: Endpoint) throws(SluiceError) -> String {
        let path: String
        let query: Substring
        switch PageLink(link).form {
        case .address(let linked, let its):
            (path, query) = (local(linked, base[...], endpoint.path), its)
        case .relative(let text):
            let linked = text.hasPrefix("./") ? text.dropFirst(2) : text
            let name = linked.prefix { $0 != "?" }
            (path, query) = (name.isEmpty ? base : "\(endpoint.path)/\(name)", linked.dropFirst(name.count + 1))
        case .other:
            throw SluiceError(.brokenProtocol, "the service's answer links to what is no address of a page")
        }
        guard !path.split(separator: "/").contains(where: { PercentEncoding.decoded($0) == ".." }) else {
            throw SluiceError(.brokenProtocol, "the service's answer links to an address with a step upwards")
        }
        // PercentEncoding's mending keeps escapes as they are.
        let mended = PercentEncoding.mended(path[...]).replacing("?", with: "%3F")
        return query.isEmpty ? mended : "\(mended)?\(PercentEncoding.mended(query))"
    }

    /// Returns a linked path below this client's root. Most links lead to the set itself; for others the folders that
    /// its server and this client have in common are found.
    private static func local(_ linked: Substring, _ base: Substring, _ root: String) -> String {
        if PageLink.isSame(linked, base, below: root) { return String(base) }
        if linked == root || linked.hasPrefix(root + "/") { return String(linked) }
        var known = root[...]
        while !known.isEmpty, !linked.hasPrefix(known + "/") {
            known = known.dropFirst().drop { $0 != "/" }
        }
        return "\(root.dropLast(known.count))\(linked)"
    }
}
