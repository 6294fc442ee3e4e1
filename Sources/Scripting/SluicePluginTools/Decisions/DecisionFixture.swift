internal import SluiceCore
internal import SluiceLua

/// Turns a logged decision into a fixture with the hook's input and answer.
enum DecisionFixture {
    /// The hook's argument: its member in a fixture, and its class in scripts.
    private static let documents: [HookKind: (member: String, document: String)] = [
        .request: ("request", "req"), .filter: ("request", "req"), .beforeEnqueue: ("operation", "op"),
        .beforePush: ("operation", "op"), .onConflict: ("conflict", "conflict"), .onPushError: ("error", "failure"),
        .afterPull: ("record", "rec"), .afterPullPage: ("page", "page"), .onSchedule: ("question", "question"),
        .onEvent: ("event", "event"),
    ]

    /// Returns the fixture; nil if the decision's input was not kept or is incomplete.
    static func fixture(_ entry: PluginDecision, config: JSON) -> JSON? {
        guard let input = entry.input, entry.hook != .initialize else { return nil }
        var given = JSON.object
        if entry.hook == .response {
            guard let document = input["res"] else { return nil }
            given["request"] = document["request"].map { request($0, body: nil) } ?? .object
            var response: JSON = ["status": document["status"] ?? 200]
            response["headers"] = document["headers"]
            response["elapsed"] = document["elapsed"]
            response["body"] = input["body"]
            given["response"] = response
        } else {
            guard let (member, name) = documents[entry.hook], let document = input[name] else { return nil }
            given[member] = part(entry.hook, document, body: input["body"])
        }
        var fixture: JSON = [
            "name": JSON("decision \(entry.sequence) of \(entry.at.text(fractionDigits: 0)): \(entry.decision)"),
            "hook": JSON(entry.hook.rawValue), "given": given, "config": config,
            "host": ["clock": JSON(entry.at.description)],
        ]
        fixture["expect"] = expectation(entry)
        if entry.hook == .filter {
            guard let exchanges = input["next"]?.elements, exchanges.allSatisfy({ $0["cut"] == nil }) else {
                return nil
            }
            let answers = exchanges.map { kept($0, $0["error"] == nil ? ["status", "headers", "body"] : ["error"]) }
            fixture["host"]?["next"] = JSON(answers)
            if entry.failure == nil { fixture["expect"]?["request"] = sent(exchanges) }
        }
        return fixture
    }

    /// Returns the requests that a filter gave to `next`, with the bodies that were kept.
    private static func sent(_ exchanges: [JSON]) -> JSON {
        JSON(
            exchanges.map { exchange in
                let request = exchange["request"] ?? .object
                return kept(request, ["method", "path", "headers", "body"])
            })
    }

    private static func part(_ hook: HookKind, _ document: JSON, body: JSON?) -> JSON {
        switch hook {
        case .request, .filter: return request(document, body: body)
        case .onConflict:
            return kept(
                document,
                [
                    "table", "id", "kind", "status", "attempt", "operation", "queued_at", "maybe_applied", "equal_edit",
                    "deleted",
                    "client", "server", "base",
                ])
        case .afterPullPage:
            var page = kept(document, ["table", "query"])
            page["rows"] = JSON((document["rows"]?.members ?? []).map(\.value))
            return page
        default: return document
        }
    }

    private static func kept(_ document: JSON, _ names: [String]) -> JSON {
        JSON(members: names.compactMap { name in document[name].map { (name, $0) } })
    }

    private static func request(_ document: JSON, body: JSON?) -> JSON {
        var request = kept(
            document,
            [
                "method", "scheme", "host", "path", "headers", "kind", "source", "attempt", "table", "record_id",
                "operation", "tags", "version",
            ])
        if let query = document["query"]?["text"]?.string, !query.isEmpty {
            request["path"] = JSON("\(document["path"]?.string ?? "/")?\(query)")
        }
        request["body"] = body
        return request
    }

    private static func expectation(_ entry: PluginDecision) -> JSON {
        if let failure = entry.failure { return ["error": JSON(failure.kind.rawValue)] }
        if entry.decision == "none" { return ["decision": .null] }
        // A written record is not a decision; the author of the fixture adds the expectation for it.
        guard let answer = entry.answer, let name = answer["decision"] else { return .object }
        var decision: JSON = ["decision": name]
        for (member, value) in answer.members ?? [] where !["decision", "fields"].contains(member) {
            decision[member] = value
        }
        return ["decision": decision]
    }
}
