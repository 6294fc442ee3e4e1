internal import SluiceCore

extension HostFunctions {
    private static let maximumKey = 128
    private static let maximumValue = 16 << 10

    /// `kv`: what a call writes is there for others once the call has ended well.
    func keyValue(_ function: String, _ arguments: JSON, _ call: CallState) throws -> JSON? {
        guard permissions.kvBytes > 0 else { throw Denied("kv needs the permission kv with a number of bytes") }
        guard let key = arguments[0]?.string, (1...Self.maximumKey).contains(key.utf8.count),
            RecordRules.isValid(id: key)
        else { throw ScriptFailure(.runtime, "a key of kv is 1 to \(Self.maximumKey) characters, as ids are") }
        let now = isDeterministic ? call.startedAt : settings.environment.now()
        let before = call.changes[key]
        let sizeBefore = values.values.size(of: key, with: call.changes, at: now)
        switch function {
        case "kv.get": return values.values.value(key, with: call.changes, at: now)?.value
        case "kv.ttl":
            guard let end = values.values.value(key, with: call.changes, at: now)?.endsAt else { return nil }
            return JSON(now.duration(to: end) / .seconds(1))
        case "kv.set":
            let value = arguments[1].flatMap { $0.isNull ? nil : $0 }
            if let value, value.bytes().count > Self.maximumValue {
                throw ScriptFailure(.runtime, "a value of kv has at most \(Self.maximumValue) bytes")
            }
            var end: Timestamp?
            if let seconds = arguments[2]?.double, seconds > 0, seconds.isFinite {
                end = now.advanced(by: .seconds(min(seconds, 1e9)))
            }
            call.changes[key, default: []] = [.set(value.map { KeyValues.Entry($0, endsAt: end) })]
        case "kv.incr":
            let step = arguments[1].flatMap { $0.isNull ? nil : $0 } ?? 1
            guard let number = step.int else { throw ScriptFailure(.runtime, "kv.incr adds whole numbers") }
            if let there = values.values.value(key, with: call.changes, at: now)?.value, there.int == nil {
                throw ScriptFailure(.runtime, "the value of \(key) is no whole number")
            }
            call.changes[key, default: []].append(.add(number))
        default: throw ScriptFailure(.runtime, "kv has no \(function)")
        }
        let growth = values.values.size(of: key, with: call.changes, at: now) - sizeBefore
        if growth > 0 {
            if values.values.size + call.kvGrowth + growth > permissions.kvBytes { values.values.makeRoom(at: now) }
            guard values.values.size + call.kvGrowth + growth <= permissions.kvBytes else {
                call.changes[key] = before
                throw ScriptFailure(.runtime, "kv is full: the plugin may keep \(permissions.kvBytes) bytes")
            }
        }
        call.kvGrowth += growth
        return function == "kv.incr" ? values.values.value(key, with: call.changes, at: now)?.value : nil
    }

    /// `store`: what the local store has, for tables that the plugin may read.
    func store(_ function: String, _ arguments: JSON, _ call: CallState) throws -> HostReply {
        try requireWait(function, call)
        let table = arguments[0]?.string ?? ""
        try SyncTables.validate(table)
        let isAllowed = try Match(tables: Array(permissions.tables.keys)).matches(MatchSubject(table: table))
        guard !permissions.tables.isEmpty, isAllowed else {
            throw Denied("\(function) needs the permission tables for \(table)")
        }
        guard settings.hasStore else { throw ScriptFailure(.runtime, "the host has given plugins no store") }
        if function == "store.get" {
            guard let id = arguments[1]?.string else {
                throw ScriptFailure(.runtime, "store.get takes a table and an id")
            }
            return .wait(.record(table: table, id: id))
        }
        guard let filter = arguments[1]?.string else { return .wait(.count(Query(table))) }
        return .wait(.count(Query(table, filter: try QueryExpression(odata: filter))))
    }
}
