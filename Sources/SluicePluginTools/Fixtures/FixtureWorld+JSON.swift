internal import HTTPTypes
internal import SluiceCore
internal import SluiceLua

extension FixtureWorld.Script {
    /// Reads a fixture's `host`.
    init(_ place: JSONPlace) throws(SluiceError) {
        let members = try place.members(["clock", "random", "http", "next", "kv", "secrets", "store"])
        if let clock = members["clock"] {
            guard let time = clock.value.string.flatMap({ Timestamp($0) }) else {
                throw clock.expected("a time such as \"2026-01-01T00:00:00Z\"")
            }
            self.clock = time
        }
        if let seed = members["random"] { self.seed = UInt64(try seed.integer(in: 0...Int.max)) }
        for exchange in try members["http"]?.elements(upTo: 64) ?? [] {
            let parts = try exchange.members(["expect", "reply", "error"])
            let expected = try parts["expect"]?.members(["method", "url"])
            let reply: Reply
            if let error = parts["error"] {
                reply = .error(try error.text())
            } else {
                reply = try .response(FixtureMessage.response(parts["reply"] ?? exchange.child(.object, "reply")))
            }
            http.append(
                Exchange(method: try expected?["method"]?.text(), url: try expected?["url"]?.text(8_192), reply: reply))
        }
        for answer in try members["next"]?.elements(upTo: 64) ?? [] {
            if let error = answer.value["error"] {
                _ = try answer.members(["error"])
                next.append(.error(try answer.child(error, "error").text()))
            } else {
                next.append(.response(try FixtureMessage.response(answer)))
            }
        }
        for (name, value) in try members["secrets"]?.entries(upTo: 64) ?? [] { secrets[name] = try value.text(65_536) }
        for (key, value) in try members["kv"]?.entries(upTo: 10_000) ?? [] { values[key] = try entry(value) }
        for (table, records) in try members["store"]?.entries(upTo: 64) ?? [] {
            for record in try records.elements(upTo: 10_000) { rows.append((table, record.value)) }
        }
    }

    /// A value of `kv`, or one with the time that it has left.
    private func entry(_ place: JSONPlace) throws(SluiceError) -> KeyValues.Entry {
        guard Set(place.value.names) == ["value", "ttl"], let value = place.value["value"] else {
            return KeyValues.Entry(place.value)
        }
        let rest = try place.child(place.value["ttl"] ?? .null, "ttl").seconds()
        return KeyValues.Entry(value, endsAt: clock.advanced(by: rest))
    }
}

extension JSONPlace {
    fileprivate func text(_ longest: Int) throws(SluiceError) -> String { try text(upTo: longest) }

    /// A number of seconds from 0, at most as long as a person lives.
    func seconds() throws(SluiceError) -> Duration {
        guard let seconds = value.double, (0...1e9).contains(seconds), let time = Duration.checked(seconds: seconds)
        else { throw expected("a number of seconds from 0") }
        return time
    }
}

/// Headers and bodies as fixtures write them.
enum FixtureMessage {
    static func response(_ place: JSONPlace) throws(SluiceError) -> Response {
        let members = try place.members(["status", "headers", "body", "elapsed"])
        let status = try members["status"]?.integer(in: 100...599) ?? 200
        var response = Response(HTTPResponse(status: HTTPResponse.Status(code: status)))
        response.head.headerFields = try members["headers"].map(headers) ?? HTTPFields()
        response.body = body(members["body"]?.value)
        return response
    }

    /// An object of names and values, or a list of both.
    static func headers(_ place: JSONPlace) throws(SluiceError) -> HTTPFields {
        var fields = HTTPFields()
        func add(_ name: String, _ value: JSONPlace) throws(SluiceError) {
            guard let name = HTTPField.Name(name), let text = value.value.string, HTTPField.isValidValue(text) else {
                throw value.expected("the text of a header field")
            }
            fields.append(HTTPField(name: name, value: text))
        }
        if place.value.kind == .array {
            for entry in try place.elements(upTo: 256) {
                let pair = try entry.elements(upTo: 2)
                guard pair.count == 2 else { throw entry.expected("a name and a value") }
                try add(try pair[0].text(), pair[1])
            }
        } else {
            for (name, value) in try place.entries(upTo: 256) { try add(name, value) }
        }
        return fields
    }

    /// A text is the bytes, null nothing, and anything else JSON.
    static func body(_ value: JSON?) -> Body {
        guard let value, !value.isNull else { return .empty }
        return value.string.map { Body(bytes: Array($0.utf8)) } ?? Body(json: value)
    }
}
