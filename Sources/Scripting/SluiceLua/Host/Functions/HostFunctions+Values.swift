internal import SluiceCore

extension HostFunctions {
    private static let maximumKey = 128
    private static let maximumValue = 16 << 10
    private static let maximumFilter = 8 << 10

    /// Answers `kv`. Other calls see a call's writes only after it has ended well.
    func keyValue(_ arguments: HostArguments, _ call: CallState) throws -> JSON? {
        let function = arguments.function
        guard permissions.kvBytes > 0 else { throw Denied("kv needs the permission kv with a number of bytes") }
        guard let key = arguments[0]?.string, (1...Self.maximumKey).contains(key.utf8.count),
            IDRules.isValid(id: key)
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
            let value = arguments[1]
            if let value, value.bytes().count > Self.maximumValue {
                throw ScriptFailure(.runtime, "a value of kv has at most \(Self.maximumValue) bytes")
            }
            var end: Timestamp?
            if let seconds = arguments[2] {
                guard let seconds = seconds.double, seconds > 0, seconds.isFinite,
                    let life = Duration.checked(seconds: min(seconds, 1e9))
                else { throw ScriptFailure(.runtime, "kv.set keeps a value for a number of seconds from 0") }
                end = now.advanced(by: life)
            }
            call.changes[key, default: []] = [.set(value.map { KeyValues.Entry($0, endsAt: end) })]
        case "kv.incr":
            guard let number = (arguments[1] ?? 1).int else {
                throw ScriptFailure(.runtime, "kv.incr adds whole numbers")
            }
            if let there = values.values.value(key, with: call.changes, at: now)?.value, there.int == nil {
                throw ScriptFailure(.runtime, "the value of \(key) is no whole number")
            }
            call.changes[key] = KeyValues.adding(number, to: call.changes[key] ?? [])
        default: throw ScriptFailure(.runtime, "kv has no \(function)")
        }
        let growth = values.values.size(of: key, with: call.changes, at: now) - sizeBefore
        if growth > 0 {
            if values.values.size + call.kvGrowth + growth > permissions.kvBytes { values.values.makeRoom(at: now) }
            guard values.values.size + call.kvGrowth + growth <= permissions.kvBytes else {
                call.changes[key] = before
                throw ScriptFailure(.runtime, "kv is full: the plugin may keep \(permissions.kvBytes.counted("byte"))")
            }
        }
        call.kvGrowth += growth
        return function == "kv.incr" ? values.values.value(key, with: call.changes, at: now)?.value : nil
    }

    /// Answers `store`: reads of the local store, for tables that the plugin may read.
    func store(_ arguments: HostArguments, _ call: CallState) throws -> HostReply {
        let function = arguments.function
        try requireWait(function, call)
        let table = try arguments.text(0, "the name of a table")
        try SyncTables.validate(table)
        let isAllowed = try Match(tables: Array(permissions.tables.keys)).matches(MatchSubject(table: table))
        guard !permissions.tables.isEmpty, isAllowed else {
            throw Denied("\(function) needs the permission tables for \(table)")
        }
        guard settings.hasStore else { throw ScriptFailure(.runtime, "the host has given plugins no store") }
        if function == "store.get" {
            return .wait(.record(table: table, id: RecordID(try arguments.text(1, "a table and an id"))))
        }
        guard let filter = try arguments.optionalText(1, "a filter that is text") else {
            return .wait(.count(Query(table)))
        }
        guard filter.utf8.count <= Self.maximumFilter else {
            throw ScriptFailure(.runtime, "a filter has at most \(Self.maximumFilter) bytes")
        }
        return .wait(.count(Query(table, filter: try QueryExpression(odata: filter))))
    }
}
