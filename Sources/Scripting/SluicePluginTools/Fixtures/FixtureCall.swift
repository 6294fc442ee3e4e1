internal import SluiceCore
internal import SluiceLua

/// Builds the hook call of a fixture, and reads the answer as the engine would.
struct FixtureCall {
    let hook: HookPlan
    let given: JSONPlace
    let reader: GivenReader
    private let rules: RecordCheck
    let plan: PluginPlan
    let secrets: SecretBook
    private let world: FixtureWorld

    private var members: [String: JSONPlace] = [:]

    /// - Throws: ``SluiceError`` of code `invalidArgument` for input that the hook does not get.
    init(
        _ hook: HookPlan, given: JSONPlace, dialect: Dialect, now: Timestamp, schema: TableSchema?, plan: PluginPlan,
        secrets: SecretBook, world: FixtureWorld
    ) throws(SluiceError) {
        self.hook = hook
        self.given = given
        self.plan = plan
        self.secrets = secrets
        self.world = world
        reader = GivenReader(dialect: dialect, now: now)
        rules = RecordCheck(dialect: dialect, schema: schema)
        members = try given.members(Self.names(hook.kind) + ["scratch", "shared"])
    }

    private static func names(_ kind: HookKind) -> [String] {
        switch kind {
        case .filter, .request: ["request"]
        case .response: ["request", "response"]
        case .toWire, .fromWire: ["value", "field", "table"]
        case .beforeEnqueue, .beforePush: ["operation"]
        case .onConflict: ["conflict"]
        case .onPushError: ["error"]
        case .afterPull: ["record", "table"]
        case .afterPullPage: ["page"]
        case .onSchedule: ["question"]
        case .onEvent: ["event"]
        case .read, .insert, .update, .delete: ["request"]
        case .initialize: []
        }
    }

    private func place(_ name: String) -> JSONPlace { members[name] ?? given.child(.object, name) }

    /// Returns the plugin's rules for records of that table.
    private func check(_ table: String) -> RecordCheck { rules.of(plan, table: table) }

    func call() throws(SluiceError) -> HookCall {
        let call = try question()
        return HookCall(
            plan: call.plan, arguments: call.arguments, bodies: call.bodies, editor: call.editor,
            tableRequest: call.tableRequest, table: call.table, recordID: call.recordID,
            scratch: members["scratch"]?.value, shared: members["shared"]?.value,
            extra: call.extra, interpret: call.interpret)
    }

    private func question() throws(SluiceError) -> HookCall {
        switch hook.kind {
        case .filter, .request: try request()
        case .response: try response()
        case .toWire, .fromWire: try translation(hook, of: place("value").value)
        case .beforeEnqueue: try enqueue()
        case .beforePush: try push()
        case .onConflict: try conflict()
        case .onPushError: try failure()
        case .afterPull: row()
        case .afterPullPage: try page()
        case .onSchedule: try schedule()
        case .onEvent:
            HookCall(plan: hook, arguments: [LuaArgument("event", place("event").value)]) {
                HookAnswer(FixtureAnswer($0), "none")
            }
        case .read, .insert, .update, .delete: try table()
        case .initialize: HookCall(plan: hook, arguments: []) { HookAnswer(FixtureAnswer($0), "none") }
        }
    }

    /// Returns the call of the other hook of a codec with a value that the first returned.
    func back(_ value: JSON) throws(SluiceError) -> HookCall? {
        guard hook.kind.isCodec, let other = plan.hooks[hook.kind == .toWire ? .fromWire : .toWire] else { return nil }
        return try translation(other, of: value)
    }

    private func translation(_ hook: HookPlan, of value: JSON) throws(SluiceError) -> HookCall {
        let (field, table) = (try place("field").text(), try members["table"]?.text() ?? "todo")
        let values = FieldValues(hook, table, [FieldValues.Value(PropertyName(field), value)])
        let call = values.call(at: 0)
        return HookCall(
            plan: call.plan, arguments: call.arguments, table: call.table, extra: call.extra
        ) { result in
            let read = try call.interpret(result)
            var answer = FixtureAnswer(result)
            answer.value = read.value as? JSON
            return HookAnswer(answer, read.name)
        }
    }

    private func request() throws(SluiceError) -> HookCall {
        let request = try reader.request(place("request"))
        let editor = RequestEditor(
            request: request, of: plan.name, permissions: plan.manifest.permissions, secrets: secrets)
        let kind = hook.kind
        var arguments = [LuaArgument("req", editor.given)]
        if kind == .filter { arguments.append(LuaArgument("next", .object)) }
        return HookCall(
            plan: hook, arguments: arguments, bodies: [request.body], editor: editor, table: request.context.table,
            recordID: request.context.recordID
        ) { result in
            var answer = FixtureAnswer(result)
            let read = kind == .filter ? try FilterVerdict.read(result) : try RequestVerdict.read(result, editor)
            switch read.value {
            case RequestVerdict.pass(let edited): answer.request = edited ?? request
            case RequestVerdict.respond(let response), FilterVerdict.answer(let response): answer.response = response
            default: break
            }
            return HookAnswer(answer, read.name, reason: read.reason)
        }
    }

    private func response() throws(SluiceError) -> HookCall {
        let request = try reader.request(place("request"))
        let response = try FixtureMessage.response(place("response"))
        let editor = RequestEditor(
            request: request, of: plan.name, permissions: plan.manifest.permissions, secrets: secrets)
        let time = place("response")
        let elapsed =
            if let value = time.value["elapsed"] { try time.child(value, "elapsed").seconds() } else { Duration.zero }
        let given = GivenResponse(
            response, body: 0, elapsed: elapsed, request: editor.seen,
            hiding: editor.isHidden)
        return HookCall(
            plan: hook, arguments: [LuaArgument("res", given.document)], bodies: [response.body], editor: editor,
            table: request.context.table, recordID: request.context.recordID
        ) { result in
            var answer = FixtureAnswer(result)
            let read = try ResponseVerdict.read(result, given, editor)
            if case ResponseVerdict.pass(let edited) = read.value { answer.response = edited ?? response }
            return HookAnswer(answer, read.name, reason: read.reason)
        }
    }

    private func enqueue() throws(SluiceError) -> HookCall {
        let change = try reader.change(place("operation"))
        return HookCall(
            plan: hook, arguments: [LuaArgument("op", OperationView.document(of: change))], table: change.table,
            recordID: change.recordID
        ) { [check = check(change.table)] result in
            var answer = FixtureAnswer(result)
            let read = try BeforeEnqueueVerdict.read(result, change, check)
            answer.record = change.record
            switch read.value {
            case EnqueueDecision.change(let record), EnqueueDecision.localOnly(let record?): answer.record = record
            default: break
            }
            return HookAnswer(answer, read.name, reason: read.reason)
        }
    }

    private func push() throws(SluiceError) -> HookCall {
        let (operation, record, _) = try reader.operation(place("operation"))
        let document = OperationView.document(of: operation, record: record, dialect: reader.dialect)
        return HookCall(
            plan: hook, arguments: [LuaArgument("op", document)], table: operation.table, recordID: operation.recordID
        ) { [check = check(operation.table)] result in
            var answer = FixtureAnswer(result)
            let read = try BeforePushVerdict.read(result, operation, record, check)
            answer.record = record
            if case BeforePushDecision.changeKind(_, let edited?) = read.value { answer.record = edited }
            return HookAnswer(answer, read.name, reason: read.reason)
        }
    }

    private func conflict() throws(SluiceError) -> HookCall {
        let conflict = try reader.conflict(place("conflict"))
        let document = ConflictDocument(conflict: conflict, check: check(conflict.table))
        return HookCall(
            plan: hook, arguments: [LuaArgument("conflict", document.json)], table: conflict.table,
            recordID: conflict.recordID
        ) { result in
            var answer = FixtureAnswer(result)
            let read = try document.decision(result)
            if let record = (read.value as? ConflictDecision)?.given {
                answer.record = record
                answer.decision?["record"] = record
            }
            return HookAnswer(answer, read.name, reason: read.reason)
        }
    }

    private func failure() throws(SluiceError) -> HookCall {
        let (failure, document) = try reader.failure(place("error"))
        return HookCall(
            plan: hook, arguments: [LuaArgument("failure", document)], table: failure.operation.table,
            recordID: failure.operation.recordID
        ) { [check = check(failure.operation.table)] result in
            var answer = FixtureAnswer(result)
            let read = try PushErrorVerdict.read(result, failure, check)
            switch read.value {
            case PushErrorDecision.cancelAndUpdate(let record), PushErrorDecision.changeKind(_, let record?):
                answer.record = record
            default: break
            }
            return HookAnswer(answer, read.name, reason: read.reason)
        }
    }

    private func row() -> HookCall {
        let row = reader.row(place("record").value)
        let table = members["table"]?.value.string ?? "todo"
        return HookCall(
            plan: hook, arguments: [LuaArgument("rec", row.record)], table: table, recordID: row.id
        ) { [check = check(table)] result in
            var answer = FixtureAnswer(result)
            let read = try PulledVerdict.read(result, row, check)
            answer.record = row.record
            if case PulledRow.Decision.change(let record) = read.value { answer.record = record }
            return HookAnswer(answer, read.name, reason: read.reason)
        }
    }

    private func page() throws(SluiceError) -> HookCall {
        let page = try reader.page(place("page"))
        return HookCall(
            plan: hook.limited(toRows: page.rows.count),
            arguments: [LuaArgument("page", PageDocument.document(of: page))], table: page.table
        ) { [check = check(page.table)] result in
            var answer = FixtureAnswer(result)
            let read = try PulledVerdict.readPage(result, page, check)
            let decisions = read.value as? [PulledRow.Decision] ?? []
            answer.dropped = .object
            answer.rows = JSON(
                page.rows.enumerated().map { index, row in
                    guard decisions.indices.contains(index) else { return row.record }
                    switch decisions[index] {
                    case .change(let record): return record
                    case .set(let members): return row.record.setting(members)
                    case .keep: return row.record
                    case .drop(let reason):
                        answer.dropped?[String(index + 1)] = JSON(reason)
                        return row.record
                    }
                })
            return HookAnswer(answer, read.name, reason: read.reason)
        }
    }

    private func table() throws(SluiceError) -> HookCall {
        let question = try reader.question(of: hook.kind, place("request"))
        let request = TableRequestDocument(question, check(question.table))
        let rows = world.serve(question)
        return HookCall(
            plan: hook, arguments: [LuaArgument("table_req", request.json), LuaArgument("table_next", .object)],
            tableRequest: request, table: question.table, recordID: question.recordID
        ) { [rules, hook, world] result in
            var answer = FixtureAnswer(result)
            let read = try TableVerdict.read(result, of: hook.kind, given: rows.given, rules)
            if let edit = world.edit { answer.record = edit.record ?? question.record }
            if case TableVerdict.rows(let shown) = read.value { answer.rows = JSON(shown) }
            return HookAnswer(answer, read.name, reason: read.reason)
        }
    }

    private func schedule() throws(SluiceError) -> HookCall {
        let question = try reader.question(place("question"))
        return HookCall(plan: hook, arguments: [], extra: [("question", question)]) { [reader] result in
            let read = try ScheduleVerdict.read(result, now: reader.now)
            return HookAnswer(FixtureAnswer(result), read.name, reason: read.reason)
        }
    }
}
