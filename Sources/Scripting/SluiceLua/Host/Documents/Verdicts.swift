package import SluiceCore
internal import Synchronization

/// The result of `request`.
package enum RequestVerdict: Sendable {
    /// The request continues; unchanged if nil.
    case pass(SyncRequest?)
    case respond(SyncResponse)
    case retry(Duration)
    case fail(String)

    package static func read(_ result: HookReturn, _ editor: RequestEditor) throws -> HookAnswer {
        guard let decision = try DecisionDocument(result, of: .request) else {
            guard !result.changed.isEmpty || !result.changedBodies.isEmpty else {
                return HookAnswer(RequestVerdict.pass(nil), "none")
            }
            let document = result.changed[0] ?? editor.given
            return HookAnswer(
                RequestVerdict.pass(try editor.request(document, bodies: result.bodies)), "changed")
        }
        switch decision.name {
        case "respond":
            return decision.answer(
                RequestVerdict.respond(try ResponseDocument.response(decision.json, by: editor)),
                answersPush: editor.isPush)
        case "retry": return decision.answer(RequestVerdict.retry(try decision.pauseOfCall()))
        default: return decision.answer(RequestVerdict.fail(try decision.message()))
        }
    }
}

/// The result of `filter`.
package enum FilterVerdict: Sendable {
    case answer(SyncResponse)
    case fail(String)

    package static func read(_ result: HookReturn) throws -> HookAnswer {
        if result.type == "res", let document = result.value, let slot = document["body"]?["slot"]?.int,
            let original = result.responses[Int(clamping: slot)]
        {
            let edited = try original.edited(document, result, by: result.editor)
            return HookAnswer(
                FilterVerdict.answer(edited ?? original.response), edited == nil ? "none" : "changed",
                answersPush: edited != nil && result.editor?.isPush == true)
        }
        guard let decision = try DecisionDocument(result, of: .filter, also: "the answer of next(req)") else {
            throw ScriptFailure(.badResult, "filter returned nothing; it returns the answer: return next(req)")
        }
        if decision.name == "respond" {
            return decision.answer(
                FilterVerdict.answer(try ResponseDocument.response(decision.json, by: result.editor)),
                answersPush: result.editor?.isPush == true)
        }
        return decision.answer(FilterVerdict.fail(try decision.message()))
    }
}

/// The result of `response`.
package enum ResponseVerdict: Sendable {
    /// The answer continues; unchanged if nil.
    case pass(SyncResponse?)
    case retry(Duration)
    case fail(String)

    package static func read(
        _ result: HookReturn, _ given: GivenResponse, _ editor: RequestEditor
    ) throws -> HookAnswer {
        guard let decision = try DecisionDocument(result, of: .response) else {
            guard !result.changed.isEmpty || !result.changedBodies.isEmpty else {
                return HookAnswer(ResponseVerdict.pass(nil), "none")
            }
            let edited = try given.edited(result.changed[0] ?? given.document, result, by: editor)
            return HookAnswer(
                ResponseVerdict.pass(edited), edited == nil ? "none" : "changed",
                answersPush: edited != nil && editor.isPush)
        }
        switch decision.name {
        case "respond":
            return decision.answer(
                ResponseVerdict.pass(try ResponseDocument.response(decision.json, by: editor)),
                answersPush: editor.isPush)
        case "retry": return decision.answer(ResponseVerdict.retry(try decision.pauseOfCall()))
        default: return decision.answer(ResponseVerdict.fail(try decision.message()))
        }
    }
}

extension DecisionDocument {
    /// Returns the message of `decide.fail`.
    func message() throws -> String {
        guard let message = json["message"]?.string ?? reason else {
            throw ScriptFailure(.badResult, "decide.fail takes a message")
        }
        return String(message.prefix(512))
    }
}

/// The result of a hook around a server's table.
package enum TableVerdict: Sendable {
    /// The records of the answer.
    case rows([JSON])
    /// The request is refused.
    case refuse(status: Int, message: String)

    /// Reads a hook's result.
    ///
    /// - Parameters:
    ///   - given: the records from `next`; nil if it was not called.
    /// - Throws: ``ScriptFailure`` of kind `badResult`.
    package static func read(
        _ result: HookReturn, of hook: HookKind, given: [JSON]?, _ check: RecordCheck
    ) throws -> HookAnswer {
        if result.type == "table_answer", let document = result.value, let given {
            var isChanged = false
            let rows = try given.enumerated().map { index, original in
                guard let row = document["rows"]?[String(index + 1)] else { return original }
                let shown = try check.shown(row, from: original)
                isChanged = isChanged || shown != original
                return shown
            }
            return HookAnswer(TableVerdict.rows(rows), isChanged ? "changed" : "none")
        }
        guard let decision = try DecisionDocument(result, of: hook, also: "the answer of next(req)") else {
            throw ScriptFailure(
                .badResult,
                "\(hook.rawValue) returned nothing; it returns the answer, return next(req), or decide.refuse")
        }
        let status = decision.json["status"].map { $0.int.map { Int(clamping: $0) } ?? 0 } ?? 400
        guard (400...599).contains(status) else {
            throw ScriptFailure(.badResult, "decide.refuse: status is 400 to 599")
        }
        let message = decision.json["message"]?.string ?? decision.reason ?? "refused"
        return decision.answer(TableVerdict.refuse(status: status, message: String(message.prefix(512))))
    }
}

/// The records that `next` returned to a script, kept for comparison with its answer.
package final class GivenRows: Sendable {
    private let rows = Mutex<[JSON]?>(nil)

    package init() {}

    /// Keeps the records, and returns their document for the script.
    package func give(_ rows: [JSON]) -> JSON {
        self.rows.withLock { $0 = rows }
        return JSON(members: [
            ("count", JSON(rows.count)),
            ("rows", JSON(members: rows.enumerated().map { (String($0 + 1), $1) })),
        ])
    }

    package var given: [JSON]? { rows.withLock { $0 } }
}
