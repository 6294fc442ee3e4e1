internal import SluiceCore

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
    func answer(_ id: UInt64, _ name: String, _ arguments: JSON, _ meter: HostMeter) -> HostReply {
        guard let function = HostFunction.all[name] else { return .failure("the host has no function \(name)") }
        let call = HostFunctionCall(
            host: self, arguments: HostArguments(values: arguments, function: name),
            hook: current?.id == id ? current : nil, meter: meter)
        do {
            if let bytes = function.fuel { try meter.charge((call.arguments[0]?.string?.utf8.count ?? 0) / bytes) }
            if let permission = function.permission, !permission.isGranted(by: permissions) {
                throw Denied("\(name) needs the permission \(permission.rawValue)")
            }
            return try function.answer(call)
        } catch let denial as Denied {
            return .denied(redact(denial.message))
        } catch let failure as ScriptFailure {
            return failure.kind == .permission ? .denied(redact(failure.message)) : .failure(redact(failure.message))
        } catch {
            return .failure(redact("\(error)"))
        }
    }
}

/// The `kv` values of one plugin, shared by all its machines.
final class KeyValueBox {
    var values: KeyValues
    init(_ saved: [String: JSON]) { values = KeyValues(saved) }
}

/// The arguments of a host function, read by type. A value of another type is an error of the script and is never
/// converted. Only a number counts as text where Lua converts it too.
struct HostArguments {
    let values: JSON
    /// The function's name in scripts.
    let function: String

    /// The argument at an index; nil if it is nil, null or missing.
    subscript(_ index: Int) -> JSON? { values[index].flatMap { $0.isNull ? nil : $0 } }

    /// Returns a text.
    func text(_ index: Int, _ what: String = "text") throws(ScriptFailure) -> String {
        guard let text = self[index]?.text else { throw refusal(what, self[index]) }
        return text
    }

    /// Returns an optional text.
    func optionalText(_ index: Int, _ what: String = "text") throws(ScriptFailure) -> String? {
        self[index] == nil ? nil : try text(index, what)
    }

    /// Returns an optional whole number.
    func optionalWhole(_ index: Int, _ what: String) throws(ScriptFailure) -> Int64? {
        guard let value = self[index] else { return nil }
        guard let number = value.int ?? value.double.flatMap({ Int64(exactly: $0) }) else { throw refusal(what, value) }
        return number
    }

    func refusal(_ what: String, _ found: JSON?) -> ScriptFailure {
        ScriptFailure(.runtime, "\(function) takes \(what), not \(found.map { $0.described } ?? "nothing")")
    }
}

extension JSON {
    /// The text, or a number as text; nil for any other value.
    var text: String? { kind == .number ? description : string }

    /// The value in a refusal, at most a line long.
    fileprivate var described: String {
        switch kind {
        case .array, .object: "a table"
        default: String(description.prefix(64))
        }
    }
}
