internal import SluiceCore

extension HostFunction {
    /// The functions of a body. Their first argument is its index.
    static let ofBodies = [
        HostFunction("body.len") { .value(JSON(try BodyCall($0).body.bytes.count)) },
        HostFunction("body.json") { call in
            let body = try BodyCall(call).body
            try call.meter.charge(body.bytes.count / 4)
            return .value(body.isEmpty ? nil : try? body.json)
        },
        HostFunction("body.text") { call in
            let body = try BodyCall(call)
            return .value(try body.text(body.body.bytes[...]))
        },
        HostFunction("body:sub") { call in
            let body = try BodyCall(call)
            let bytes = body.body.bytes
            func place(_ index: Int64) -> Int { Int(clamping: index < 0 ? Int64(bytes.count) + index + 1 : index) }
            let first = max(1, place(try call.arguments.optionalWhole(1, "whole numbers") ?? 1))
            let last = min(bytes.count, place(try call.arguments.optionalWhole(2, "whole numbers") ?? -1))
            return .value(try body.text(first <= last ? bytes[first - 1..<last] : []))
        },
        HostFunction("body:set_text") { call in
            try BodyCall(call).replace(by: MessageBody(bytes: Array(try call.arguments.text(1, "a text").utf8)))
        },
        HostFunction("body.set_json") { call in
            let body = try BodyCall(call)
            // Null is a JSON value too.
            guard call.arguments.values.count > 1, let value = call.arguments.values[1] else {
                throw ScriptFailure(.runtime, "body:set_json takes a value")
            }
            try call.meter.charge(body.body.bytes.count / 4)
            let originals = body.body.isEmpty ? [] : [try? body.body.json].compactMap { $0 }
            return body.replace(by: MessageBody(json: LongNumbers(of: originals).restored(value, from: originals)))
        },
        HostFunction("body.sha256") { call in
            try .value(CryptoFunctions.digest(BodyCall(call).charged(), call.arguments.optionalText(1)))
        },
        HostFunction("body.hmac") { call in
            try .value(
                CryptoFunctions.code(
                    BodyCall(call).charged(), call.arguments, secret: call.host.secrets.revealed))
        },
        HostFunction("body.base64") { .value(JSON(Base64.text(try BodyCall($0).charged()))) },
        HostFunction("body.hex") { .value(JSON(Base16.text(try BodyCall($0).charged()))) },
    ]
}

/// One call about a body of the hook.
private struct BodyCall {
    /// The body.
    let body: MessageBody
    private let index: Int
    private let hook: CallState
    private let meter: HostMeter

    init(_ call: HostFunctionCall) throws {
        (hook, meter) = (try call.requireHook(), call.meter)
        guard let slot = call.arguments[0]?.int, hook.bodies.indices.contains(Int(slot)) else {
            throw ScriptFailure(.runtime, "there is no such body")
        }
        index = Int(slot)
        body = hook.bodies[index]
        // A body that the script wrote itself does not raise its limits.
        if !hook.changedBodies.contains(index) { meter.give(body.bytes.count) }
    }

    /// Returns bytes of the body as text, for their price.
    func text(_ bytes: ArraySlice<UInt8>) throws -> JSON {
        try meter.charge(bytes.count / 32)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ScriptFailure(.runtime, "the body is not UTF-8 text")
        }
        return JSON(text)
    }

    /// Returns all bytes, for the price of a digest or an encoding.
    func charged() throws -> [UInt8] {
        try meter.charge(body.bytes.count / 8)
        return body.bytes
    }

    /// Puts another body in its place.
    func replace(by other: MessageBody) -> HostReply {
        hook.bodies[index] = other
        hook.changedBodies.insert(index)
        return .value(nil)
    }
}
