internal import HTTPTypes
internal import Logging
package import SluiceCore

/// Answers the host functions of a plugin's script. Only the plugins' thread uses it.
package final class HostFunctions {
    let plan: PluginPlan
    let settings: HostSettings
    let values: KeyValueBox
    let secrets: SecretBook
    /// The call with the running script.
    var current: CallState?
    /// The waiting calls, by their ids.
    var calls: [UInt64: CallState] = [:]

    init(_ plan: PluginPlan, values: KeyValueBox, secrets: SecretBook, _ settings: HostSettings) {
        self.plan = plan
        self.settings = settings
        self.values = values
        self.secrets = secrets
    }

    var redact: Redactor { secrets.redact }
    var permissions: PluginPermissions { plan.permissions }
    var isDeterministic: Bool { plan.manifest.isDeterministic }

    /// Answers one call of a host function. While `main` loads there is no hook call: only functions without one work
    /// then.
    func answer(_ id: UInt64, _ function: String, _ arguments: JSON, _ meter: HostMeter) -> HostReply {
        let call = current?.id == id ? current : nil
        let named = HostArguments(values: arguments, function: Self.names[function] ?? function)
        do {
            if let reply = try pure(function, named, meter) ?? impure(function, named, call) { return reply }
            guard let call else { return .failure("\(named.function) cannot be used while the plugin is loaded") }
            return try ofCall(function, named, call, meter) ?? .failure("the host has no function \(function)")
        } catch let denial as Denied {
            return .denied(redact(denial.message))
        } catch let failure as ScriptFailure {
            return failure.kind == .permission ? .denied(redact(failure.message)) : .failure(redact(failure.message))
        } catch {
            return .failure(redact("\(error)"))
        }
    }

    /// Functions with another name in scripts than in the host.
    private static let names = [
        "crypto.hmac": "crypto.hmac_sha256", "crypto.decode": "crypto.base64_decode",
        "text.distance": "text.levenshtein", "query.get": "query:get", "query.set": "query:set",
        "query.list": "query:pairs", "body.sub": "body:sub", "body.set_text": "body:set_text",
    ]

    /// The number of argument bytes for a unit of fuel, for functions that cost more than passing the bytes. Passing
    /// them is already paid for.
    private static let bytesOfFuel = [
        "crypto.base64": 8, "crypto.decode": 8, "crypto.hex": 8, "query.get": 1, "query.set": 1, "query.list": 1,
    ]

    /// Answers functions that depend on nothing except their arguments.
    private func pure(_ function: String, _ arguments: HostArguments, _ meter: HostMeter) throws -> HostReply? {
        if let bytes = Self.bytesOfFuel[function] {
            try meter.charge((arguments[0]?.string?.utf8.count ?? 0) / bytes)
        }
        switch function {
        case "time.parse": return .value(TimeFunctions.parse(arguments))
        case "time.format": return .value(try TimeFunctions.format(arguments))
        case "crypto.sha256": return .value(try CryptoFunctions.digest(arguments))
        case "crypto.hmac": return .value(try CryptoFunctions.code(arguments, secret: secrets.revealed))
        case "crypto.base64": return .value(try CryptoFunctions.base64(arguments))
        case "crypto.decode": return .value(try CryptoFunctions.decoded(arguments))
        case "crypto.hex": return .value(try CryptoFunctions.hex(arguments))
        case "text.diff3": return .value(try TextFunctions.merged(arguments, meter))
        case "text.distance": return .value(try TextFunctions.distance(arguments, meter))
        case "names.nearest":
            let known = arguments[1]?.elements?.compactMap(\.string) ?? []
            return .value(NearestKey.suggestion(for: arguments[0]?.string ?? "", among: known).map { JSON($0) })
        case "query.get": return .value(try QueryFunctions.value(arguments))
        case "query.set": return .value(try QueryFunctions.setting(arguments))
        case "query.list": return .value(try QueryFunctions.list(arguments))
        default: return nil
        }
    }

    /// Answers functions that depend on the clock, on random numbers, or on permissions.
    private func impure(_ function: String, _ arguments: HostArguments, _ call: CallState?) throws -> HostReply? {
        switch function {
        case "time.now":
            guard permissions.clock else { throw Denied("time.now needs the permission clock") }
            let now = isDeterministic ? call?.startedAt : settings.environment.now()
            guard let now else { throw Denied("time.now cannot be used while a deterministic plugin is loaded") }
            return .value(TimeFunctions.seconds(now))
        case "crypto.uuid", "crypto.random", "math.random":
            guard permissions.random else { throw Denied("\(function) needs the permission random") }
            if isDeterministic || settings.seed != nil {
                guard let call else {
                    throw Denied("\(function) cannot be used while a deterministic plugin is loaded")
                }
                return .value(try CryptoFunctions.chance(arguments, using: &call.random))
            }
            var generator = SystemRandomNumberGenerator()
            return .value(try CryptoFunctions.chance(arguments, using: &generator))
        case "secrets.get", "secrets.find":
            let name = try arguments.text(0, "a secret's name")
            guard plan.secrets.contains(name) else {
                throw Denied("the plugin has no permission for the secret \(name.prefix(64))")
            }
            // Without a refusal, a missing secret would become the text "nil" in a header, or the empty key of a
            // signature.
            guard let handle = secrets.handles[name] else {
                if function == "secrets.find" { return .value(nil) }
                throw ScriptFailure(
                    .runtime, "the deployment has no secret \(name); secrets.find(name) returns nil then")
            }
            return .value(JSON(handle))
        case "log" where call == nil:
            settings.logger.log(
                level: Self.level(arguments[0]?.string), "\(redact(Self.words(arguments[1])))",
                metadata: ["plugin": "\(plan.name)"])
            return .value(nil)
        default: return nil
        }
    }

    /// Returns the text of a log line: a text as it is, and any other value as JSON.
    static func words(_ value: JSON?) -> String { value.map { $0.string ?? $0.description } ?? "" }

    static func level(_ name: String?) -> Logger.Level {
        switch name {
        case "debug": .debug
        case "warn": .warning
        case "error": .error
        default: .info
        }
    }
}

/// The `kv` values of one plugin, shared by all its machines.
final class KeyValueBox {
    var values: KeyValues
    init(_ saved: [String: JSON]) { values = KeyValues(saved) }
}

/// The query of a request's address, by the decoded names of its parts.
enum QueryFunctions {
    /// The maximum length, longer than servers accept.
    static let maximumBytes = 64 << 10

    private static func query(_ arguments: HostArguments) throws -> QueryString {
        let text = try arguments.text(0)
        guard text.utf8.count <= maximumBytes else {
            throw ScriptFailure(.runtime, "the query has more than \(maximumBytes) bytes")
        }
        return QueryString(ofPath: "?\(text)")
    }

    static func value(_ arguments: HostArguments) throws -> JSON? {
        try query(arguments)[try arguments.text(1, "the name of a part")].map { JSON($0) }
    }

    /// Returns the query with a part set, or removed if the value is nil.
    static func setting(_ arguments: HostArguments) throws -> JSON {
        let name = try arguments.text(1, "a name and a value")
        guard !name.isEmpty else { throw ScriptFailure(.runtime, "query:set takes a name and a value") }
        var parts = try query(arguments).parts
        let value = arguments[2]?.kind == .bool ? arguments[2]?.description : try arguments.optionalText(2)
        let place = parts.firstIndex { QueryString.name(of: $0) == name } ?? parts.count
        parts.removeAll { QueryString.name(of: $0) == name }
        // The name is encoded first: so any name is one part, whatever its characters.
        if let value {
            parts.insert(
                "\(PercentEncoding.query(name))=\(PercentEncoding.query(value))", at: min(place, parts.count))
        }
        return JSON(parts.joined(separator: "&"))
    }

    static func list(_ arguments: HostArguments) throws -> JSON {
        JSON(
            try query(arguments).parts.map { part in
                let value = part.firstIndex(of: "=").map { PercentEncoding.decoded(part[part.index(after: $0)...]) }
                return JSON([JSON(QueryString.name(of: part)), JSON(value ?? "")])
            })
    }
}

/// `text`: functions that are too expensive in Lua. Work that grows with the product of two lengths is paid for before
/// it begins.
enum TextFunctions {
    private static let maximumLines = 2000
    private static let maximumCharacters = 1000
    /// The number of cells of a table of two texts for a unit of fuel.
    private static let cellsOfFuel = 16

    private static func lines(_ text: String) -> [ArraySlice<UInt8>] {
        Array(text.utf8).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }

    /// Merges two texts line by line against their base; nil if both changed the same lines differently.
    static func merged(_ arguments: HostArguments, _ meter: HostMeter) throws -> JSON? {
        let texts = try (0..<3).map { lines(try arguments.text($0, "three texts: client, server, base")) }
        guard texts.allSatisfy({ $0.count <= maximumLines }) else {
            throw ScriptFailure(.runtime, "text.diff3 takes texts of at most \(maximumLines) lines")
        }
        try meter.charge(texts.reduce(0) { $0 + $1.count })
        return try LineMerge(client: texts[0], server: texts[1], base: texts[2]).merged { cells in
            try meter.charge(cells / cellsOfFuel)
        }.map { JSON(String(decoding: Array($0.joined(separator: [UInt8(ascii: "\n")])), as: UTF8.self)) }
    }

    /// Returns the number of differing characters (Levenshtein distance).
    static func distance(_ arguments: HostArguments, _ meter: HostMeter) throws -> JSON {
        let (from, to) = (
            Array(try arguments.text(0, "two texts").unicodeScalars),
            Array(try arguments.text(1, "two texts").unicodeScalars)
        )
        guard max(from.count, to.count) <= maximumCharacters else {
            throw ScriptFailure(.runtime, "text.levenshtein takes texts of at most \(maximumCharacters) characters")
        }
        try meter.charge(from.count * to.count / cellsOfFuel)
        var row = Array(0...to.count)
        for (index, scalar) in from.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in to.enumerated() {
                let replaced = diagonal + (scalar == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return JSON(row[to.count])
    }
}

extension HostFunctions {
    static let maximumCalls = 4
    static let maximumBytes = 256 << 10

    /// Answers `http.request{method=, url=, headers=, body=, json=}`, for hosts of the permission only.
    func http(_ arguments: JSON, _ call: CallState) throws -> HostReply {
        try requireWait("http.request", call)
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
        var request = Request(
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
            request.body = Body(json: json)
            request.head.headerFields[.contentType] = "application/json"
        } else if let text = arguments["body"]?.string {
            request.body = Body(bytes: Array(text.utf8))
        }
        guard request.body.bytes.count <= Self.maximumBytes else {
            throw ScriptFailure(.runtime, "a request's body has at most \(Self.maximumBytes) bytes")
        }
        request.context.limits.responseBytes = Self.maximumBytes
        call.httpCalls += 1
        return .wait(.http(request))
    }

    /// Returns the answer as a script sees it: its whole text.
    package static func document(of response: Response) -> HostReply {
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
