internal import Logging
internal import SluiceCore

/// Answers the host functions that a plugin's script calls. Only the plugins' thread touches it.
package final class HostFunctions {
    let plan: PluginPlan
    let settings: HostSettings
    let values: KeyValueBox
    let secrets: SecretBook
    /// The call whose script runs.
    var current: CallState?
    /// The calls that wait, by their ids.
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

    /// Answers one call of a host function. While `main` runs there is no call: then only what needs none answers.
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

    /// Functions that scripts know by another name than the host.
    private static let names = [
        "crypto.hmac": "crypto.hmac_sha256", "crypto.decode": "crypto.base64_decode",
        "text.distance": "text.levenshtein", "query.get": "query:get", "query.set": "query:set",
        "query.list": "query:pairs", "body.sub": "body:sub", "body.set_text": "body:set_text",
    ]

    /// How many bytes of its arguments a function goes through for a unit of fuel, where it takes longer for them than
    /// to hand them over, which is paid for already.
    private static let bytesOfFuel = [
        "crypto.base64": 8, "crypto.decode": 8, "crypto.hex": 8, "query.get": 1, "query.set": 1, "query.list": 1,
    ]

    /// Functions that depend on nothing except their arguments.
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

    /// Functions that depend on the clock, on chance, or on what the plugin may know.
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
            // A secret that is missing becomes the text "nil" in a header otherwise, and the empty key of a signature.
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

    /// The text of a log line: a text as it is, and any other value as JSON.
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

/// The values of one plugin, shared by all machines that it has had.
final class KeyValueBox {
    var values: KeyValues
    init(_ saved: [String: JSON]) { values = KeyValues(saved) }
}
