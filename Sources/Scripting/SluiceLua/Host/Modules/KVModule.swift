internal import SluiceCore

extension HostModule {
    /// `kv`: the plugin's own values. Other calls see a call's writes only after it has ended well.
    static let kv = HostModule(
        "kv", "sluice.KeyValues",
        "Values that last, of this plugin alone. What a call writes is kept when it has ended well. Needs the permission `kv`.",
        permission: .kv,
        [
            .host("get", [("key", "string")], "any", "A value.") { .value(try KeyValueCall($0).entry?.value) },
            .host(
                "set", [("key", "string"), ("value", "any"), ("seconds?", "number")], "",
                "Sets a value, for so long; nil takes it out."
            ) { call in
                try KeyValueCall(call).set(call.arguments[1], for: call.arguments[2])
                return .value(nil)
            },
            .host("incr", [("key", "string"), ("by?", "integer")], "integer", "Adds to a whole number.") { call in
                let values = try KeyValueCall(call)
                try values.add(call.arguments[1] ?? 1)
                return .value(values.entry?.value)
            },
            .host(
                "ttl", [("key", "string")], "number?",
                "How many seconds a value has left; nil for one without an end."
            ) { call in
                let values = try KeyValueCall(call)
                return .value(values.entry?.endsAt.map { JSON(values.now.duration(to: $0) / .seconds(1)) })
            },
        ])
}

/// One call of `kv`, for one key.
private struct KeyValueCall {
    private static let maximumKey = 128
    private static let maximumValue = 16 << 10

    private let host: HostFunctions
    private let hook: CallState
    private let key: String
    /// The time of the call.
    let now: Timestamp

    init(_ call: HostFunctionCall) throws {
        (host, hook) = (call.host, try call.requireHook())
        guard host.permissions.kvBytes > 0 else { throw Denied("kv needs the permission kv with a number of bytes") }
        guard let key = call.arguments[0]?.string, (1...Self.maximumKey).contains(key.utf8.count),
            IDRules.isValid(id: key)
        else { throw ScriptFailure(.runtime, "a key of kv is 1 to \(Self.maximumKey) characters, as ids are") }
        self.key = key
        now = host.isDeterministic ? hook.startedAt : host.settings.environment.now()
    }

    /// The value with its end, as the call sees it.
    var entry: KeyValues.Entry? { host.values.values.value(key, with: hook.changes, at: now) }

    func set(_ value: JSON?, for seconds: JSON?) throws {
        if let value, value.bytes().count > Self.maximumValue {
            throw ScriptFailure(.runtime, "a value of kv has at most \(Self.maximumValue) bytes")
        }
        var end: Timestamp?
        if let seconds {
            guard let seconds = seconds.double, seconds > 0, seconds.isFinite,
                let life = Duration.checked(seconds: min(seconds, 1e9))
            else { throw ScriptFailure(.runtime, "kv.set keeps a value for a number of seconds from 0") }
            end = now.advanced(by: life)
        }
        try change(to: [.set(value.map { KeyValues.Entry($0, endsAt: end) })])
    }

    func add(_ number: JSON) throws {
        guard let number = number.int else { throw ScriptFailure(.runtime, "kv.incr adds whole numbers") }
        if let there = entry?.value, there.int == nil {
            throw ScriptFailure(.runtime, "the value of \(key) is no whole number")
        }
        try change(to: KeyValues.adding(number, to: hook.changes[key] ?? []))
    }

    /// Replaces the call's changes of the key, if the plugin's values have room.
    private func change(to changes: [KeyValues.Change]) throws {
        let values = host.values
        let before = hook.changes[key]
        let sizeBefore = values.values.size(of: key, with: hook.changes, at: now)
        hook.changes[key] = changes
        let growth = values.values.size(of: key, with: hook.changes, at: now) - sizeBefore
        let limit = host.permissions.kvBytes
        if growth > 0 {
            if values.values.size + hook.kvGrowth + growth > limit { values.values.makeRoom(at: now) }
            guard values.values.size + hook.kvGrowth + growth <= limit else {
                hook.changes[key] = before
                throw ScriptFailure(.runtime, "kv is full: the plugin may keep \(limit.counted("byte"))")
            }
        }
        hook.kvGrowth += growth
    }
}
