internal import HTTPTypes
package import SluiceCore

extension HostModule {
    static let http = HostModule(
        "http", "sluice.HTTP", "Requests of the plugin's own. Needs the permission `http` with the hosts.",
        permission: .http,
        [
            .host(
                "request", [("options", "table")], "table",
                "Sends `{method, url, headers, body | json}` and waits for `{status, headers, body}`: four times a call, 256 KiB each, no redirects. `Host`, `Content-Length` and what else says how bytes travel cannot be set."
            ) { call in try call.host.http(call.arguments[0] ?? .null, call.requireWait()) }
        ])
}

extension HostFunctions {
    private static let maximumCalls = 4
    static let maximumBytes = 256 << 10

    /// Answers `http.request{method=, url=, headers=, body=, json=}`, for hosts of the permission only.
    fileprivate func http(_ arguments: JSON, _ call: CallState) throws -> HostReply {
        guard !permissions.http.isEmpty else { throw Denied("http.request needs the permission http") }
        guard !isDeterministic else { throw Denied("a deterministic plugin has no http.request") }
        guard settings.hasTransport else { throw ScriptFailure(.runtime, "the host has given plugins no transport") }
        guard call.httpCalls < Self.maximumCalls else {
            throw ScriptFailure(.runtime, "a call may make \(Self.maximumCalls) requests")
        }
        for name in ["method", "body"] where arguments[name].map({ $0.string == nil && !$0.isNull }) ?? false {
            throw ScriptFailure(.runtime, "http.request: \(name) is a text")
        }
        guard let url = arguments["url"]?.string else {
            throw ScriptFailure(.runtime, "http.request takes a table with a url")
        }
        let address = try PluginAddress(url)
        try address.require(permissions.http, "http.request may not go to")
        guard let method = HTTPRequest.Method(arguments["method"]?.string ?? "GET") else {
            throw ScriptFailure(.runtime, "no such method")
        }
        guard plan.mode == .enforce || method == .get || method == .head else {
            throw Denied("a shadow changes nothing: http.request may only GET")
        }
        var request = SyncRequest(
            HTTPRequest(method: method, scheme: address.scheme, authority: address.authority, path: address.path))
        for (name, value) in arguments["headers"]?.members ?? [] {
            guard let text = value.text else {
                throw ScriptFailure(.runtime, "http.request: the header \(name) is a text")
            }
            let field = try RequestEditor.field(name.text, try address.revealed(text, by: secrets))
            try RequestEditor.requireNoFraming(field)
            request.head.headerFields[field.name] = field.value
        }
        if let json = arguments["json"] {
            request.body = MessageBody(json: json)
            request.head.headerFields[.contentType] = "application/json"
        } else if let text = arguments["body"]?.string {
            request.body = MessageBody(bytes: Array(text.utf8))
        }
        guard request.body.bytes.count <= Self.maximumBytes else {
            throw ScriptFailure(.runtime, "a request's body has at most \(Self.maximumBytes) bytes")
        }
        request.context.limits.responseBytes = Self.maximumBytes
        call.httpCalls += 1
        return .wait(.http(request))
    }

    /// Returns the answer as a script sees it: its whole text.
    package static func document(of response: SyncResponse) -> HostReply {
        let bytes = response.body.bytes
        guard bytes.count <= maximumBytes else {
            return .failure("http.request: the answer has more than \(maximumBytes) bytes")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return .failure("http.request: the answer is not UTF-8 text")
        }
        var headers = JSON.object
        for field in response.head.headerFields { headers[field.name.canonicalName] = JSON(field.value) }
        return .value(["status": JSON(response.status), "headers": headers, "body": JSON(text)])
    }
}
