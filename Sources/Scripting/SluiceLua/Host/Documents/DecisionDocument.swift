internal import SluiceCore

/// A decision that a hook returned: a table that `decide.NAME` made.
struct DecisionDocument {
    private static let maximumPause: Duration = .seconds(30 * 86_400)
    private static let longestPauseOfCall: Duration = .seconds(300)

    /// The decision's name.
    let name: String
    /// The decision with all its members.
    let json: JSON
    private let holdsObject: Bool

    /// Reads a hook's result; nil if it returned nothing.
    ///
    /// - Parameter also: the other results that the hook may return, for the message of the refusal.
    /// - Throws: ``ScriptFailure`` of kind `badResult` for a result that the hook may not return.
    init?(_ result: HookReturn, of kind: HookKind, also: String = "nothing") throws {
        guard let value = result.value, !value.isNull else { return nil }
        guard let name = value["decision"]?.string, result.type == nil, kind.decisions.contains(name) else {
            let isTable = value.members != nil || value.elements != nil
            let found =
                value["decision"]?.string.map { "decide.\($0)" } ?? result.type
                ?? (isTable ? "a table that is no decision" : "a \(value.kind)")
            let names = ([also] + kind.decisions.map { "decide.\($0)" }).joined(separator: ", ")
            throw ScriptFailure(.badResult, "\(kind.rawValue) may return \(names); it returned \(found)")
        }
        self.name = name
        json = value
        holdsObject = result.holdsObject
    }

    /// The plugin's reason, at most 512 characters.
    var reason: String? { json["reason"]?.string.map { String($0.prefix(512)) } }

    /// Returns the pause, `after` in seconds; nil if the decision asks for none.
    func pause() throws -> Duration? {
        guard let after = json["after"], !after.isNull else { return nil }
        guard let seconds = after.double, seconds >= 0, seconds.isFinite else {
            throw ScriptFailure(.badResult, "decide.\(name): after is a number of seconds")
        }
        return min(.checked(seconds: seconds) ?? Self.maximumPause, Self.maximumPause)
    }

    /// Returns a pause within a call. It is shorter than others, because a caller waits for the answer.
    func pauseOfCall() throws -> Duration {
        let pause = try pause() ?? .zero
        guard pause <= Self.longestPauseOfCall else {
            throw ScriptFailure(
                .badResult,
                "decide.\(name): a request waits for 300 seconds at most; let it fail, and on_push_error can retry later"
            )
        }
        return pause
    }

    /// Returns the decision's record.
    func record() throws -> JSON {
        guard let record = json["record"], record.kind == .object else {
            throw ScriptFailure(.badResult, "decide.\(name) takes a record")
        }
        return record
    }

    /// Refuses a record that the script built as a table and that leaves fields out. A table does not show whether a
    /// field was removed or never set; an object does.
    func requireWhole(of sides: [JSON?], _ check: RecordCheck) throws {
        guard !holdsObject, let record = json["record"] else { return }
        try check.requireWhole(
            record, of: sides, from: "decide.\(name)",
            removed: (json["remove"]?.elements ?? []).compactMap(\.string))
    }

    /// Returns the decision as an answer, with its name and reason for the log.
    func answer(_ value: any Sendable, answersPush: Bool = false) -> HookAnswer {
        HookAnswer(value, name, reason: reason, answersPush: answersPush)
    }
}
