internal import Logging
internal import SluiceCore

extension HostFunctions {
    private static let maximumLines = 100
    private static let maximumLine = 2048

    /// Answers functions of a call: its log, its bodies, its waits.
    func ofCall(
        _ function: String, _ arguments: HostArguments, _ call: CallState, _ meter: HostMeter
    ) throws -> HostReply? {
        switch function {
        case "log":
            log(arguments, call)
            return .value(nil)
        case "trace.set":
            var trace = call.trace ?? .object
            guard trace.count < 32 else { return .value(nil) }
            let name = redact(arguments[0]?.string ?? "")
            trace[PropertyName(String(decoding: name.utf8.prefix(64), as: UTF8.self))] = clipped(arguments[1] ?? .null)
            call.trace = trace
            return .value(nil)
        case "trace.event":
            var trace = call.trace ?? .object
            var events = trace["events"] ?? .array
            guard events.count < 32 else { return .value(nil) }
            events.append(clipped(arguments[0] ?? .null))
            trace["events"] = events
            call.trace = trace
            return .value(nil)
        case "ctx.cancelled": return .value(JSON(Task.isCancelled))
        case "ctx.deadline":
            let now = settings.environment.now()
            return .value(call.deadline.map { JSON(now.duration(to: $0) / .seconds(1)) })
        case "ctx.sleep":
            try requireWait("ctx.sleep", call)
            guard let milliseconds = arguments[0]?.double, (0...3_600_000).contains(milliseconds),
                let pause = Duration.checked(seconds: milliseconds / 1000)
            else { throw ScriptFailure(.runtime, "ctx.sleep takes milliseconds from 0 to 3600000") }
            return .wait(.sleep(pause))
        case "http.request": return try http(arguments[0] ?? .null, call)
        case "store.get", "store.count": return try store(arguments, call)
        case "next": return try next(arguments[0] ?? .null, call)
        case "table.next": return try tableNext(arguments[0] ?? .null, call)
        default:
            if function.hasPrefix("body.") { return .value(try body(function, arguments, call, meter)) }
            if function.hasPrefix("kv.") { return .value(try keyValue(arguments, call)) }
            return nil
        }
    }

    /// Refuses a wait in a hook that cannot wait. The refusal names the called function.
    func requireWait(_ function: String, _ call: CallState) throws {
        guard !call.plan.mayWait else { return }
        let allowed = HookKind.allCases.filter(\.mayWait).map(\.rawValue).joined(separator: ", ")
        throw ScriptFailure(
            .yield, "\(function) cannot be used in \(call.plan.rawValue), which may not wait; allowed in: \(allowed)")
    }

    private func log(_ arguments: HostArguments, _ call: CallState) {
        guard call.log.count < Self.maximumLines else {
            call.droppedLines += 1
            return
        }
        let level = arguments[0]?.string ?? "info"
        let fields = arguments[2].flatMap { $0.isNull ? nil : clipped($0) }
        let line = PluginLogLine(level: level, message: clip(redact(Self.words(arguments[1]))), fields: fields)
        call.log.append(line)
        var metadata: Logger.Metadata = ["plugin": "\(plan.name)", "hook": "\(call.plan.rawValue)"]
        if let fields { metadata["fields"] = "\(fields)" }
        settings.logger.log(level: Self.level(level), "\(line.message)", metadata: metadata)
    }

    private func clip(_ text: String) -> String {
        text.utf8.count <= Self.maximumLine ? text : String(decoding: text.utf8.prefix(Self.maximumLine), as: UTF8.self)
    }

    private func clipped(_ value: JSON) -> JSON {
        let value = redact(value)
        return value.bytes().count <= Self.maximumLine ? value : JSON(clip(value.description))
    }

    private func next(_ document: JSON, _ call: CallState) throws -> HostReply {
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

    private func tableNext(_ document: JSON, _ call: CallState) throws -> HostReply {
        guard let subject = call.call.tableRequest else {
            throw ScriptFailure(.runtime, "next is there in the hooks of a server's tables alone")
        }
        guard call.nextCalls == 0 else {
            throw ScriptFailure(.runtime, "next was called already: a request to a table is carried out once")
        }
        call.nextCalls = 1
        return .wait(.table(try subject.edit(document)))
    }

    private func body(
        _ function: String, _ arguments: HostArguments, _ call: CallState, _ meter: HostMeter
    ) throws -> JSON? {
        guard let slot = arguments[0]?.int, call.bodies.indices.contains(Int(slot)) else {
            throw ScriptFailure(.runtime, "there is no such body")
        }
        let body = call.bodies[Int(slot)]
        // A body that the script wrote itself does not raise its limits.
        if !call.changedBodies.contains(Int(slot)) { meter.give(body.bytes.count) }
        switch function {
        case "body.len": return JSON(body.bytes.count)
        case "body.json":
            try meter.charge(body.bytes.count / 4)
            return body.isEmpty ? nil : try? body.json
        case "body.text", "body.sub":
            var bytes = body.bytes[...]
            if function == "body.sub" {
                let count = bytes.count
                func place(_ index: Int64) -> Int { Int(clamping: index < 0 ? Int64(count) + index + 1 : index) }
                let first = max(1, place(try arguments.optionalWhole(1, "whole numbers") ?? 1))
                let last = min(count, place(try arguments.optionalWhole(2, "whole numbers") ?? -1))
                bytes = first <= last ? bytes[first - 1..<last] : []
            }
            try meter.charge(bytes.count / 32)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw ScriptFailure(.runtime, "the body is not UTF-8 text")
            }
            return JSON(text)
        case "body.set_text":
            call.bodies[Int(slot)] = Body(bytes: Array(try arguments.text(1, "a text").utf8))
        case "body.set_json":
            // Null is a JSON value too.
            guard arguments.values.count > 1, let value = arguments.values[1] else {
                throw ScriptFailure(.runtime, "body:set_json takes a value")
            }
            try meter.charge(body.bytes.count / 4)
            let originals = body.isEmpty ? [] : [try? body.json].compactMap { $0 }
            call.bodies[Int(slot)] = Body(json: LongNumbers(of: originals).restored(value, from: originals))
        default:
            let made = try CryptoFunctions.ofBody(body.bytes, arguments, meter, secret: secrets.revealed)
            guard let made else { throw ScriptFailure(.runtime, "a body has no \(function)") }
            return made
        }
        call.changedBodies.insert(Int(slot))
        return nil
    }
}
