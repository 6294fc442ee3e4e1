internal import CLuaSandbox
internal import SluiceCore

/// A call of a hook that has begun. It is ended when nobody holds it any more.
final class LuaCall {
    /// How far a call has come.
    enum Step {
        /// The hook has returned.
        case done(LuaCall)
        /// It waits.
        case waits(LuaCall, HostWait)
        /// It failed.
        case failed(ScriptFailure, LuaCall?)
    }

    let pointer: OpaquePointer
    let id: UInt64
    /// Keeps the machine alive.
    private let vm: LuaVM

    init(_ pointer: OpaquePointer, id: UInt64, of vm: LuaVM) {
        self.pointer = pointer
        self.id = id
        self.vm = vm
    }

    deinit { sluice_call_end(pointer) }

    /// What the hook returned, and the class it is an object of; nil for nothing.
    var result: (value: JSON, type: String?)? {
        var type: UnsafePointer<CChar>?
        guard let value = sluice_call_result(pointer, &type) else { return nil }
        return (JSON(JSONHandle(owningRaw: value)), type.map { String(cString: $0) })
    }

    /// Whether it returned a table whose `record` is an object of the host's, and no table that the script has built.
    var returnedObject: Bool { sluice_call_returned_object(pointer) }

    /// What the script has made of an argument; nil if it did not write to it.
    func changedArgument(_ index: Int) -> JSON? {
        var isChanged = false
        let value = sluice_call_argument(pointer, index, &isChanged)
        return isChanged ? JSON(JSONHandle(sharingRaw: value)) : nil
    }

    /// Why it failed: `{message, file, line}`.
    var error: JSON { JSON(JSONHandle(owningRaw: sluice_call_error(pointer))) }
    /// The fuel that it has used.
    var fuel: Int { Int(sluice_call_fuel_used(pointer)) }
    /// The time of the thread that it has used.
    var cpuTime: Duration { .nanoseconds(sluice_call_cpu_nanoseconds(pointer)) }
}
