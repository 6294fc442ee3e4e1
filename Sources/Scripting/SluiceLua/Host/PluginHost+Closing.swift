internal import SluiceCore

extension PluginHost {
    /// The end of a call.
    enum Ending {
        case answered(HookAnswer)
        case failed(PluginFailure)
        case passedOn
    }

    /// Records the result of a call, and releases the call.
    func close(_ state: CallState, _ instance: PluginInstance, _ ending: Ending) {
        let kind = state.plan
        let elapsed = state.begin.duration(to: steady)
        let (fuel, cpuTime) = (state.lua?.fuel ?? 0, state.lua?.cpuTime ?? .zero)
        instance.fuelUsed += Int64(fuel)
        defer {
            if state.isListed {
                instance.functions.calls[state.id] = nil
                calls[state.id] = nil
            }
            release(instance)
        }
        // Rows and values without a remarkable decision are too many for the log: they are only counted.
        var isCountedOnly = false
        let isMany = kind == .afterPull || kind.isCodec
        if isMany, case .answered(let answer) = ending, answer.name != "drop", state.log.isEmpty {
            guard settings.observer != nil else {
                return instance.count(kind, "ok", answer.name, fuel, cpuTime, elapsed)
            }
            isCountedOnly = true
        }
        var entry = PluginDecision(
            sequence: 0, at: now, plugin: instance.plan.name, version: instance.version, hook: kind,
            table: state.call.table, recordID: state.call.recordID,
            inputHash: kind.isCodec ? "" : instance.inputHash(of: state.call), decision: "none",
            fuel: fuel, cpuTime: cpuTime, elapsed: elapsed, waits: state.waits,
            isShadow: instance.plan.mode == .shadow, log: state.log, trace: state.trace ?? .object)
        entry.release = instance.plan.release
        if state.droppedLines > 0 {
            let note = "left out \(state.droppedLines.counted("line")) more"
            entry.log.append(PluginLogLine(level: "warn", message: note, fields: nil))
        }
        var outcome = "ok"
        switch ending {
        case .answered(let answer):
            entry.decision = answer.name
            entry.answersPush = answer.answersPush
            entry.reason = answer.reason.map { instance.functions.redact($0) }
        case .failed(let failure):
            (entry.decision, entry.failure, outcome) = ("failed", failure, failure.kind.rawValue)
        case .passedOn: entry.decision = "passed_on"
        }
        let redact = instance.functions.redact
        if settings.observer != nil, !kind.isCodec, case .answered(let answer) = ending {
            var hash = DocumentHash()
            hash.add(state.lua.flatMap { DecisionInput.answer(of: $0, redact) } ?? .null)
            hash.add(answer.record ?? .null)
            entry.answerHash = String(hash.value, radix: 16)
        }
        settings.observer?.decided(entry)
        if isCountedOnly { return instance.count(kind, outcome, entry.decision, fuel, cpuTime, elapsed) }
        if keepsInputs, !kind.isCodec {
            entry.input = DecisionInput.input(of: state, redact)
            entry.answer = state.lua.flatMap { DecisionInput.answer(of: $0, redact) }
            if case .answered(let answer) = ending, let record = answer.record {
                entry.answer?["record"] = redact(record)
            }
        }
        record(entry, hiding: redact)
        instance.count(kind, outcome, entry.decision, fuel, cpuTime, elapsed)
    }

    /// Calls `init`, if the plugin has one.
    func initialize(_ id: PluginInstance.ID) throws(PluginFailure) {
        guard let plan = instances[id]?.plan.hooks[.initialize] else { return }
        let call = HookCall(plan: plan, arguments: []) { _ in HookAnswer(true, "none") }
        switch begin(call, of: id) {
        case .done, .passedOn: return
        case .failed(let failure): throw failure
        case .waits(let call, _, _):
            if case .failed(let failure) = end(call, .yield) { throw failure }
        }
    }
}

extension PluginInstance {
    /// Counts a call.
    fileprivate func count(
        _ kind: HookKind, _ outcome: String, _ decision: String, _ fuel: Int, _ cpuTime: Duration, _ elapsed: Duration
    ) {
        figures[kind, default: .init()].count(outcome, decision, fuel, cpuTime, elapsed)
        meters?.count(
            kind, outcome, decision: outcome == "ok" ? decision : nil, fuel: fuel, cpuTime: cpuTime, elapsed: elapsed)
    }
}

extension PluginMetrics.Hook {
    fileprivate mutating func count(
        _ outcome: String, _ decision: String, _ fuel: Int, _ cpuTime: Duration, _ elapsed: Duration
    ) {
        calls[outcome, default: 0] += 1
        if outcome == "ok" { decisions[decision, default: 0] += 1 }
        self.fuel += fuel
        self.cpuTime += cpuTime
        self.elapsed += elapsed
    }

    /// Adds the counts of another instance.
    mutating func add(_ other: PluginMetrics.Hook) {
        calls.merge(other.calls, uniquingKeysWith: +)
        decisions.merge(other.decisions, uniquingKeysWith: +)
        fuel += other.fuel
        cpuTime += other.cpuTime
        elapsed += other.elapsed
    }
}

/// The input and the answer of a call for the decision log, without credentials.
enum DecisionInput {
    /// Returns the hook's arguments, by their classes in scripts; the body, if it is text; and for a filter the
    /// exchanges of `next`.
    static func input(of state: CallState, _ redact: Redactor) -> JSON {
        let call = state.call
        var input = JSON(members: call.arguments.map { ($0.type ?? "value", redact(withoutCredentials($0.value))) })
        for (name, value) in call.extra { input[name] = redact(value) }
        if let bytes = call.bodies.first?.bytes, !bytes.isEmpty, bytes.count <= ExchangeDocument.maximumBody,
            let text = String(validating: bytes, as: UTF8.self)
        {
            input["body"] = JSON(redact(text))
        }
        if call.plan.kind == .filter {
            input["next"] = redact(JSON(state.exchanges.map(ExchangeDocument.next)))
        }
        return input
    }

    /// Returns the hook's result, or else its changes of the first argument.
    static func answer(of call: LuaCall, _ redact: Redactor) -> JSON? {
        (call.result?.value ?? call.changedArgument(0)).map { redact(withoutCredentials($0)) }
    }

    /// Removes header fields with credentials from a request, an answer, and the request inside an answer.
    private static func withoutCredentials(_ document: JSON) -> JSON {
        guard document.kind == .object else { return document }
        var document = document
        if let fields = document["headers"]?.elements {
            document["headers"] = JSON(
                fields.filter { !ChangePermission.credentialFields.contains($0[0]?.string?.lowercased() ?? "") })
        }
        if let request = document["request"] { document["request"] = withoutCredentials(request) }
        return document
    }
}
