internal import HTTPTypes
package import SluiceCore

/// A request that a filter gave to `next`, and its result.
struct NextExchange: Sendable {
    /// The end of an exchange.
    enum Ending: Sendable {
        case response(SyncResponse)
        case failed(String)
    }

    let request: SyncRequest
    var ending: Ending?
}

/// Requests and answers for the decision log: without credentials, with the body as text.
package enum ExchangeDocument {
    /// The longest body that is kept, in bytes.
    static let maximumBody = 64 << 10

    package static func request(_ request: SyncRequest) -> JSON {
        message(
            ["method": JSON(request.head.method.rawValue), "path": JSON(request.head.path ?? "/")],
            request.head.headerFields, request.body)
    }

    static func response(_ response: SyncResponse) -> JSON {
        message(["status": JSON(response.status)], response.head.headerFields, response.body)
    }

    /// Returns an exchange of `next`: the request, and the answer or the error.
    static func next(_ exchange: NextExchange) -> JSON {
        var json: JSON
        switch exchange.ending {
        case .response(let response): json = self.response(response)
        case .failed(let message): json = ["error": JSON(message)]
        case nil: json = .object
        }
        json["request"] = request(exchange.request)
        return json
    }

    /// Returns a message. A body that is not text or too long is replaced by `"cut": true`.
    private static func message(_ start: JSON, _ fields: HTTPFields, _ body: MessageBody) -> JSON {
        var json = start
        var headers = JSON.object
        for field in fields where !ChangePermission.credentialFields.contains(field.name.canonicalName) {
            let before = headers[field.name.rawName]?.string.map { "\($0), " } ?? ""
            headers[field.name.rawName] = JSON(before + field.value)
        }
        json["headers"] = headers
        guard !body.isEmpty else { return json }
        let text = body.bytes.count <= maximumBody ? String(validating: body.bytes, as: UTF8.self) : nil
        if let text { json["body"] = JSON(text) } else { json["cut"] = true }
        return json
    }
}
