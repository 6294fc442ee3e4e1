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
