package import SluiceCore

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
