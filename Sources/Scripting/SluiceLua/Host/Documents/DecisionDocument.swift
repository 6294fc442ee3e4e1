internal import SluiceCore

/// What a hook returned, where it is a decision: a table that `decide.NAME` made.
struct DecisionDocument {
    private static let maximumPause: Duration = .seconds(30 * 86_400)
    private static let longestPauseOfCall: Duration = .seconds(300)

    /// The decision's name.
    let name: String
    /// All its members.
    let json: JSON
    private let holdsObject: Bool

    /// Reads what a hook returned; nil where that is nothing.
    ///
    /// - Parameter also: what else the hook may return, for the message of the refusal.
    /// - Throws: ``ScriptFailure`` of kind `badResult` for what the hook may not return.
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

    /// The reason that the plugin gives.
    var reason: String? { json["reason"]?.string.map { String($0.prefix(512)) } }

    /// The pause that it asks for, `after` in seconds; nil if it does not.
    func pause() throws -> Duration? {
        guard let after = json["after"], !after.isNull else { return nil }
        guard let seconds = after.double, seconds >= 0, seconds.isFinite else {
            throw ScriptFailure(.badResult, "decide.\(name): after is a number of seconds")
        }
        return min(.checked(seconds: seconds) ?? Self.maximumPause, Self.maximumPause)
    }

    /// The pause in the middle of a call, which holds up whoever waits for its answer.
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

    /// The record that it brings.
    func record() throws -> JSON {
        guard let record = json["record"], record.kind == .object else {
            throw ScriptFailure(.badResult, "decide.\(name) takes a record")
        }
        return record
    }

    /// Refuses a record that the script built as a table and that leaves fields out: of a table nobody knows whether a
    /// field was taken out or never put in, while an object tells.
    func requireWhole(of sides: [JSON?], _ check: RecordCheck) throws {
        guard !holdsObject, let record = json["record"] else { return }
        try check.requireWhole(
            record, of: sides, from: "decide.\(name)",
            removed: (json["remove"]?.elements ?? []).compactMap(\.string))
    }

    /// A decision for the log.
    func answer(_ value: any Sendable, answersPush: Bool = false) -> HookAnswer {
        HookAnswer(value, name, reason: reason, answersPush: answersPush)
    }
}
