internal import SluiceCore

/// What a call was given and what it answered, as the decision log keeps it: without credentials.
enum DecisionInput {
    /// What the hook was given, by the classes that scripts see it as; the body, where it is a text; and for a filter
    /// what it gave to `next` and got.
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

    /// What the hook returned; else what it made of what it was given.
    static func answer(of call: LuaCall, _ redact: Redactor) -> JSON? {
        (call.result?.value ?? call.changedArgument(0)).map { redact(withoutCredentials($0)) }
    }

    /// The document without header fields that hold credentials: of a request, an answer, and the request in it.
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
