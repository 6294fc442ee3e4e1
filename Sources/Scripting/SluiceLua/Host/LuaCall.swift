internal import CLuaSandbox
package import SluiceCore

/// A call of a hook that has begun. It ends with the last reference to it.
final class LuaCall {
    /// The progress of a call.
    enum Step {
        /// The hook has returned.
        case done(LuaCall)
        /// The script waits.
        case waits(LuaCall, HostWait)
        /// The call failed.
        case failed(ScriptFailure, LuaCall?)
    }

    let pointer: OpaquePointer
    let id: UInt64
    /// The machine, which lives as long as its calls.
    private let vm: LuaVM

    init(_ pointer: OpaquePointer, id: UInt64, of vm: LuaVM) {
        self.pointer = pointer
        self.id = id
        self.vm = vm
    }

    deinit { sluice_call_end(pointer) }

    /// The result of the hook, with the class if it is an object; nil for none.
    var result: (value: JSON, type: String?)? {
        var type: UnsafePointer<CChar>?
        guard let value = sluice_call_result(pointer, &type) else { return nil }
        return (JSON(JSONHandle(owningRaw: value)), type.map { String(cString: $0) })
    }

    /// Whether it returned a table with an object of the host as `record`, not a table that the script built.
    var returnedObject: Bool { sluice_call_returned_object(pointer) }

    /// Returns an argument as the script changed it; nil if it did not write to it.
    func changedArgument(_ index: Int) -> JSON? {
        var isChanged = false
        let value = sluice_call_argument(pointer, index, &isChanged)
        return isChanged ? JSON(JSONHandle(sharingRaw: value)) : nil
    }

    /// The error as `{message, file, line}`.
    var error: JSON { JSON(JSONHandle(owningRaw: sluice_call_error(pointer))) }
    /// The fuel that it has used.
    var fuel: Int { Int(sluice_call_fuel_used(pointer)) }
    /// The CPU time that it has used.
    var cpuTime: Duration { .nanoseconds(sluice_call_cpu_nanoseconds(pointer)) }
}

/// An argument of a hook.
package struct LuaArgument: Sendable {
    /// The prelude's class for the script's view of it; nil for a plain value.
    var type: String?
    var value: JSON

    package init(_ type: String?, _ value: JSON) {
        self.type = type
        self.value = value
    }

    /// Calls `body` with all arguments as C structures, which live as long as it runs.
    static func with<Result>(
        _ arguments: ArraySlice<LuaArgument>, after done: [sluice_argument] = [],
        _ body: ([sluice_argument]) -> Result
    ) -> Result {
        guard let first = arguments.first else { return body(done) }
        let handle = first.value.handle
        return withExtendedLifetime(handle) {
            first.withType { type in
                let argument = sluice_argument(class_name: type, value: handle.raw, reader: nil)
                return with(arguments.dropFirst(), after: done + [argument], body)
            }
        }
    }

    private func withType<Result>(_ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        guard let type else { return body(nil) }
        return type.withCString { body($0) }
    }
}
