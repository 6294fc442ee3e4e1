package import CLuaSandbox
package import SluiceCore

/// One plugin's virtual machine, over the sandbox's C functions. Its owner makes sure that only one thread at a time
/// uses it.
package final class LuaVM {
    /// Answers a call of a host function, given the call's id, the function's name, its arguments as an array, and the
    /// meter of its work.
    package typealias Host = (_ call: UInt64, _ function: String, _ arguments: JSON, _ meter: HostMeter) -> HostReply

    /// The context of the C callback, through which it reaches the host.
    private final class Receiver {
        let host: Host
        var meter = HostMeter(vm: nil)
        var waits: [UInt64: HostWait] = [:]

        init(_ host: @escaping Host) { self.host = host }

        func answer(
            _ call: UInt64, _ function: UnsafePointer<CChar>?, _ arguments: UnsafeRawPointer?,
            _ result: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        ) -> sluice_host_answer {
            let name = function.map { String(cString: $0) } ?? ""
            switch host(call, name, JSON(JSONHandle(sharingRaw: arguments)), meter) {
            case .value(let value):
                result?.pointee = value?.handle.retainedRaw()
                return SLUICE_HOST_VALUE
            case .failure(let message):
                result?.pointee = JSON(message).handle.retainedRaw()
                return SLUICE_HOST_ERROR
            case .denied(let message):
                result?.pointee = JSON(message).handle.retainedRaw()
                return SLUICE_HOST_DENIED
            case .wait(let wait):
                waits[call] = wait
                return SLUICE_HOST_WAIT
            }
        }
    }

    private let vm: OpaquePointer
    private let receiver: Receiver

    /// Creates a machine without a plugin.
    ///
    /// - Throws: ``ScriptFailure`` of kind `memory`.
    package init(limits: sluice_limits = sluice_limits_default(), host: @escaping Host) throws(ScriptFailure) {
        receiver = Receiver(host)
        let host = sluice_host(
            context: Unmanaged.passUnretained(receiver).toOpaque(),
            call: { context, call, function, arguments, result in
                guard let context else { return SLUICE_HOST_ERROR }
                return Unmanaged<Receiver>.fromOpaque(context).takeUnretainedValue()
                    .answer(call, function, arguments, result)
            })
        guard let vm = sluice_vm_new(limits, host, 0) else {
            throw ScriptFailure(.memory, "there is no memory for another plugin")
        }
        self.vm = vm
        receiver.meter = HostMeter(vm: vm)
    }

    deinit { sluice_vm_free(vm) }

    /// Runs the prelude and the plugin's `main`.
    ///
    /// - Returns: the names of the hooks that `main` returned.
    package func load(
        prelude: LuaSource, sources: [LuaSource], environment: JSON, budget: sluice_budget
    ) throws(ScriptFailure) -> [String] {
        var hooks: UnsafeMutableRawPointer?
        var message: UnsafeMutableRawPointer?
        let environment = environment.handle
        let outcome = withExtendedLifetime(environment) {
            LuaTexts.with(prelude) { prelude in
                LuaTexts.with(sources[...]) { sources in
                    sluice_vm_load(
                        vm, prelude, sources, sources.count, environment.raw, budget, &hooks, &message)
                }
            }
        }
        let (names, report) = (JSON(JSONHandle(owningRaw: hooks)), JSON(JSONHandle(owningRaw: message)))
        guard outcome == SLUICE_DONE else { throw ScriptFailure(outcome, report) }
        return names.elements?.compactMap(\.string) ?? []
    }

    /// Begins a call.
    func call(_ hook: String, _ arguments: [LuaArgument], budget: sluice_budget, id: UInt64) -> LuaCall.Step {
        step(
            LuaArgument.with(arguments[...]) { arguments in
                arguments.withUnsafeBufferPointer { arguments in
                    hook.withCString { begin($0, arguments, budget: budget, id: id) }
                }
            }, id: id)
    }

    /// A call as C returned it.
    enum Begun {
        /// It has returned, and has to be ended.
        case done(OpaquePointer)
        /// It waits or has failed; without a pointer there was no memory for it.
        case other(OpaquePointer?, sluice_outcome)
    }

    /// Begins a call. The caller ends it, directly or through ``step(_:id:)``.
    func call(
        _ hook: StaticString, _ arguments: UnsafeBufferPointer<sluice_argument>, budget: sluice_budget, id: UInt64
    ) -> Begun {
        hook.withUTF8Buffer { name in
            name.withMemoryRebound(to: CChar.self) {
                begin($0.baseAddress, arguments, budget: budget, id: id)
            }
        }
    }

    private func begin(
        _ hook: UnsafePointer<CChar>?, _ arguments: UnsafeBufferPointer<sluice_argument>, budget: sluice_budget,
        id: UInt64
    ) -> Begun {
        var pointer: OpaquePointer?
        let outcome = sluice_vm_call(vm, hook, arguments.baseAddress, arguments.count, budget, id, &pointer)
        guard let pointer, outcome == SLUICE_DONE else { return .other(pointer, outcome) }
        return .done(pointer)
    }

    /// Returns the progress of a call that has begun.
    func step(_ begun: Begun, id: UInt64) -> LuaCall.Step {
        switch begun {
        case .done(let pointer): .done(LuaCall(pointer, id: id, of: self))
        case .other(let pointer?, let outcome): step(outcome, LuaCall(pointer, id: id, of: self))
        case .other(nil, _): .failed(ScriptFailure(.memory, "there is no memory for another call"), nil)
        }
    }

    /// Resumes a call that waited.
    func resume(_ call: LuaCall, with answer: HostReply) -> LuaCall.Step {
        let (kind, value) = Self.parts(of: answer)
        let outcome = withExtendedLifetime(value) { sluice_call_resume(call.pointer, kind, value?.handle.raw) }
        return step(outcome, call)
    }

    private static func parts(of answer: HostReply) -> (sluice_host_answer, JSON?) {
        switch answer {
        case .value(let value): (SLUICE_HOST_VALUE, value)
        case .failure(let message): (SLUICE_HOST_ERROR, JSON(message))
        case .denied(let message): (SLUICE_HOST_DENIED, JSON(message))
        case .wait: (SLUICE_HOST_ERROR, JSON("a wait cannot be answered by a wait"))
        }
    }

    private func step(_ outcome: sluice_outcome, _ call: LuaCall) -> LuaCall.Step {
        switch outcome {
        case SLUICE_DONE: return .done(call)
        case SLUICE_WAITS:
            guard let wait = receiver.waits.removeValue(forKey: call.id) else {
                return .failed(ScriptFailure(.runtime, "the script waits for nothing"), call)
            }
            return .waits(call, wait)
        default: return .failed(ScriptFailure(outcome, call.error), call)
        }
    }

    /// The number of calls ended for exceeding their budget.
    var kills: Int { Int(sluice_vm_kills(vm)) }
    /// The memory in use, in bytes.
    var memory: Int { Int(sluice_vm_memory(vm)) }
    /// The highest memory use so far, in bytes.
    package var peakMemory: Int { Int(sluice_vm_peak_memory(vm)) }
    /// Whether the stack is at the same height as after loading.
    var isBalanced: Bool { sluice_vm_is_balanced(vm) }
    /// Returns the names of guards that failed their test.
    package func selfTest() -> [String] {
        JSON(JSONHandle(owningRaw: sluice_vm_self_test(vm))).elements?.compactMap(\.string) ?? []
    }

    /// Counts fuel by line from now on.
    package func startProfile() { sluice_vm_profile_start(vm) }
    /// Returns the fuel of each line since the last time: `{"main.lua:41": 1200}`.
    package func takeProfile() -> JSON { JSON(JSONHandle(owningRaw: sluice_vm_profile_take(vm))) }
}

/// Charges the running call for the host's work.
package struct HostMeter {
    /// The machine; nil if nothing is counted.
    let vm: OpaquePointer?

    /// Raises the call's fuel and time limits in proportion to the bytes of a long text from outside.
    func give(_ bytes: Int) { if let vm { sluice_vm_give(vm, bytes) } }

    /// Spends fuel before the work that it pays for.
    ///
    /// - Throws: ``ScriptFailure`` of kind `fuel` if the call has no fuel left: it ends, whatever the host answers.
    func charge(_ fuel: Int) throws(ScriptFailure) {
        guard let vm, !sluice_vm_charge(vm, Int64(fuel)) else { return }
        throw ScriptFailure(.fuel, "the call has spent its fuel")
    }
}

/// Converts sources for the sandbox; the pointers are valid while the body runs.
enum LuaTexts {
    /// Calls `body` with a chunk's name and text.
    static func with<Result>(_ source: LuaSource, _ body: (sluice_source) -> Result) -> Result {
        source.name.withCString { name in
            source.file.withCString { file in
                source.text.withUnsafeBytes { bytes in
                    body(
                        sluice_source(
                            name: name, text: bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                            length: bytes.count, file: file))
                }
            }
        }
    }

    /// Calls `body` with all chunks.
    static func with<Result>(
        _ sources: ArraySlice<LuaSource>, after done: [sluice_source] = [], _ body: ([sluice_source]) -> Result
    ) -> Result {
        guard let first = sources.first else { return body(done) }
        return with(first) { with(sources.dropFirst(), after: done + [$0], body) }
    }
}

extension LuaSource {
    init(_ source: PluginBundle.Source) { self.init(name: source.name, file: source.path, text: source.text) }
}
