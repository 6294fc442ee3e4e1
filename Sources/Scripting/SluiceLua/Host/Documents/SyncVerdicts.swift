package import SluiceCore

/// The result of `before_enqueue`.
package enum BeforeEnqueueVerdict {
    package static func read(_ result: HookReturn, _ change: EnqueuedChange, _ check: RecordCheck) throws -> HookAnswer
    {
        let written = result.changed[0]?["record"]
        if result.type == "op" {
            return changed(try record(written ?? result.value?["record"], change, check))
        }
        if let decision = try DecisionDocument(result, of: .beforeEnqueue, also: "nothing, the op") {
            guard decision.name == "reject" else {
                return decision.answer(EnqueueDecision.localOnly(try record(written, change, check)))
            }
            let json = decision.json
            let fields = (json["fields"]?.members ?? []).map { ($0.name.text, $0.value.string ?? $0.value.description) }
            let refusal = EnqueueDecision.Refusal(
                json["message"]?.string ?? decision.reason ?? "refused", code: json["code"]?.string,
                fields: Dictionary(fields, uniquingKeysWith: { $1 }))
            return decision.answer(EnqueueDecision.reject(refusal))
        }
        return changed(try record(written, change, check))
    }

    private static func changed(_ record: JSON?) -> HookAnswer {
        guard let record else { return HookAnswer(EnqueueDecision.accept, "none") }
        return HookAnswer(EnqueueDecision.change(record), "changed")
    }

    /// Returns the plugin's version of the record; nil if it is unchanged.
    private static func record(_ edited: JSON?, _ change: EnqueuedChange, _ check: RecordCheck) throws -> JSON? {
        guard let edited, edited != change.record else { return nil }
        guard change.record != nil, change.kind == .insert || change.kind == .update else {
            throw ScriptFailure(.badResult, "the record of a \(change.kind.rawValue) cannot be changed")
        }
        return try check.checked(edited, from: [change.record, change.before], id: change.recordID)
    }
}

/// The result of `before_push`.
package enum BeforePushVerdict {
    package static func read(
        _ result: HookReturn, _ operation: TableOperation, _ record: JSON?, _ check: RecordCheck
    ) throws -> HookAnswer {
        guard let decision = try DecisionDocument(result, of: .beforePush) else {
            guard result.changed.isEmpty else {
                throw ScriptFailure(
                    .badResult, "before_push changed op.record: return decide.change_action(op.kind, op.record)")
            }
            return HookAnswer(BeforePushDecision.send, "none")
        }
        let reason = decision.reason ?? "a plugin said so"
        switch decision.name {
        case "skip": return decision.answer(BeforePushDecision.skip(reason: reason))
        case "defer":
            guard let pause = try decision.pause() else {
                throw ScriptFailure(.badResult, "decide.defer takes after, a number of seconds")
            }
            return decision.answer(BeforePushDecision.defer(pause, reason: reason))
        case "change_action":
            try decision.requireWhole(of: [record], check)
            let edited = try decision.json["record"].map {
                try check.checked($0, from: [record], id: operation.recordID)
            }
            let kind = try OperationView.kind(decision)
            // A decision that changes nothing would be asked for again without end.
            if kind == operation.kind, edited == nil || edited == record {
                return HookAnswer(BeforePushDecision.send, "none")
            }
            try check.requireWrite()
            return decision.answer(BeforePushDecision.changeKind(kind, edited))
        default: return decision.answer(BeforePushDecision.send)
        }
    }
}

/// The result of `on_push_error`.
package enum PushErrorVerdict {
    package static func read(_ result: HookReturn, _ failure: PushResult.Failure, _ check: RecordCheck) throws
        -> HookAnswer
    {
        guard let decision = try DecisionDocument(result, of: .onPushError) else {
            return HookAnswer(PushErrorDecision.next, "next")
        }
        func record() throws -> JSON {
            try check.requireWrite()
            try decision.requireWhole(of: [failure.record], check)
            return try check.checked(try decision.record(), from: [failure.record], id: failure.operation.recordID)
        }
        switch decision.name {
        case "retry": return decision.answer(PushErrorDecision.retry(after: try decision.pause() ?? .zero))
        case "cancel_and_discard": return decision.answer(PushErrorDecision.cancelAndDiscard)
        case "cancel_and_update": return decision.answer(PushErrorDecision.cancelAndUpdate(try record()))
        case "change_action":
            try check.requireWrite()
            let edited = decision.json["record"] == nil ? nil : try record()
            return decision.answer(PushErrorDecision.changeKind(try OperationView.kind(decision), edited))
        case "park":
            return decision.answer(PushErrorDecision.park(reason: decision.reason ?? "a plugin said so"))
        case "abort": return decision.answer(PushErrorDecision.abort)
        default: return decision.answer(PushErrorDecision.next)
        }
    }
}

/// The result of `after_pull` for a row, and of `after_pull_page` for a page.
package enum PulledVerdict {
    package static func read(_ result: HookReturn, _ row: PulledRow, _ check: RecordCheck) throws -> HookAnswer {
        let written = result.changed[0]
        if let value = result.value, result.type == "rec" || result.type == nil && value["id"]?.textID == row.id {
            if result.type == nil {
                try check.requireWhole(value, of: [row.record], from: "what after_pull returned", removed: nil)
            }
            return try changed(result.type == nil ? value : written ?? value, row, check)
        }
        if let decision = try DecisionDocument(result, of: .afterPull, also: "nothing, the record") {
            return decision.answer(PulledRow.Decision.drop(reason: decision.reason ?? "a plugin said so"))
        }
        guard let written else { return HookAnswer(PulledRow.Decision.keep, "none") }
        return try changed(written, row, check)
    }

    private static func changed(_ record: JSON, _ row: PulledRow, _ check: RecordCheck) throws -> HookAnswer {
        let record = try check.checked(record, from: [row.record], id: row.id)
        if record == row.record { return HookAnswer(PulledRow.Decision.keep, "none") }
        return HookAnswer(PulledRow.Decision.change(record), "changed")
    }

    package static func readPage(_ result: HookReturn, _ page: PulledPage, _ check: RecordCheck) throws -> HookAnswer {
        if let value = result.value, !value.isNull, result.type != "page" {
            throw ScriptFailure(
                .badResult, "after_pull_page returns nothing: write to the rows, and page:drop(i, reason)")
        }
        guard let document = result.changed[0] else {
            return HookAnswer(page.rows.map { _ in PulledRow.Decision.keep }, "none")
        }
        let dropped = document["dropped"] ?? .object
        let rows = document["rows"] ?? .object
        var decisions: [PulledRow.Decision] = []
        for (index, row) in page.rows.enumerated() {
            let place = String(index + 1)
            if let reason = dropped[place] {
                decisions.append(.drop(reason: reason.string ?? "a plugin said so"))
            } else if let record = rows[place], record != row.record {
                decisions.append(.change(try check.checked(record, from: [row.record], id: row.id)))
            } else {
                decisions.append(.keep)
            }
        }
        return HookAnswer(decisions, decisions.allSatisfy { $0 == .keep } ? "none" : "changed")
    }
}

/// The result of `on_schedule`.
package enum ScheduleVerdict {
    package static func read(_ result: HookReturn, now: Timestamp) throws -> HookAnswer {
        guard let decision = try DecisionDocument(result, of: .onSchedule) else {
            return HookAnswer(ScheduleDecision?.none, "none")
        }
        let value: ScheduleDecision
        switch decision.name {
        case "push": value = .push
        case "pull": value = .pull(tables: decision.json["tables"]?.elements.map { Set($0.compactMap(\.string)) })
        default:
            if let pause = try decision.pause() {
                value = .wait(until: now.advanced(by: pause))
            } else if let time = decision.json["at"]?.double.flatMap({ Timestamp(secondsSince1970: $0) }) {
                value = .wait(until: time)
            } else if let time = decision.json["at"]?.string.flatMap({ Timestamp($0) }) {
                value = .wait(until: time)
            } else {
                throw ScriptFailure(.badResult, "decide.wait takes after, in seconds, or at, a time")
            }
        }
        return decision.answer(ScheduleDecision?.some(value))
    }
}
