internal import SluiceCore

extension HostFunction {
    /// The functions of `ctx` and of its trace.
    static let ofContext = [
        HostFunction("trace.set") { call in
            let hook = try call.requireHook()
            var trace = hook.trace ?? .object
            guard trace.count < 32 else { return .value(nil) }
            let name = call.host.redact(call.arguments[0]?.string ?? "")
            trace[PropertyName(String(decoding: name.utf8.prefix(64), as: UTF8.self))] =
                call.host.clipped(call.arguments[1] ?? .null)
            hook.trace = trace
            return .value(nil)
        },
        HostFunction("trace.event") { call in
            let hook = try call.requireHook()
            var trace = hook.trace ?? .object
            var events = trace["events"] ?? .array
            guard events.count < 32 else { return .value(nil) }
            events.append(call.host.clipped(call.arguments[0] ?? .null))
            trace["events"] = events
            hook.trace = trace
            return .value(nil)
        },
        HostFunction("ctx.cancelled") { call in
            _ = try call.requireHook()
            return .value(JSON(Task.isCancelled))
        },
        HostFunction("ctx.deadline") { call in
            let hook = try call.requireHook()
            let now = call.host.settings.environment.steady()
            return .value(hook.deadline.map { JSON(now.duration(to: $0) / .seconds(1)) })
        },
        HostFunction("ctx.sleep") { call in
            _ = try call.requireWait()
            guard let milliseconds = call.arguments[0]?.double, (0...3_600_000).contains(milliseconds),
                let pause = Duration.checked(seconds: milliseconds / 1000)
            else { throw ScriptFailure(.runtime, "ctx.sleep takes milliseconds from 0 to 3600000") }
            return .wait(.sleep(pause))
        },
    ]

    /// The functions that carry a request on.
    static let ofNext = [
        HostFunction("next") { try $0.host.next($0.arguments[0] ?? .null, $0.requireHook()) },
        HostFunction("table.next") { try $0.host.tableNext($0.arguments[0] ?? .null, $0.requireHook()) },
    ]
}

extension HostFunctions {
    /// Answers the `next` of a filter.
    fileprivate func next(_ document: JSON, _ call: CallState) throws -> HostReply {
        guard call.plan == .filter, let editor = call.call.editor else {
            throw ScriptFailure(.runtime, "next can be used in the hook filter only")
        }
        guard call.nextCalls < 3 else { throw ScriptFailure(.runtime, "next was called three times already") }
        call.nextCalls += 1
        var edited = try editor.request(document, bodies: call.bodies)
        edited.context.attempt += call.nextCalls - 1
        call.exchanges.append(NextExchange(request: edited))
        return .wait(.next(edited))
    }

    /// Answers the `next` of a hook around a server's table.
    fileprivate func tableNext(_ document: JSON, _ call: CallState) throws -> HostReply {
        guard let subject = call.call.tableRequest else {
            throw ScriptFailure(.runtime, "next is there in the hooks of a server's tables alone")
        }
        guard call.nextCalls == 0 else {
            throw ScriptFailure(.runtime, "next was called already: a request to a table is carried out once")
        }
        call.nextCalls = 1
        return .wait(.table(try subject.edit(document)))
    }
}
