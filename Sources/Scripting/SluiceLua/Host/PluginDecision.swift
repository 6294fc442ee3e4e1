public import SluiceCore

/// One decision of a plugin: an entry of the decision log.
public struct PluginDecision: Sendable {
    /// The entry's number, counted up from 1.
    public var sequence: Int
    /// The end of the call.
    public var at: Timestamp
    /// The plugin's name.
    public var plugin: String
    /// Its version and the hash of its files: `1.2.0+3f2a…`.
    public var version: String
    /// The version of the policy's release that the plugin came with; nil for an installed policy.
    public var release: Int?
    /// The hook.
    public var hook: HookKind
    /// The table, if the call concerned one.
    public var table: String?
    /// The record's id, if the call concerned one.
    public var recordID: RecordID?
    /// A hash of the hook's input: equal inputs have equal hashes.
    public var inputHash: String
    /// The hook's input, without credentials; nil unless the host keeps inputs.
    public var input: JSON?
    /// The name of the decision, `none`, `changed`, `passed_on`, or `failed`.
    public var decision: String
    /// A hash of the answer, for observers alone; nil for no answer.
    package var answerHash: String?
    /// The whole answer, without credentials; nil for none, or if inputs are not kept.
    public var answer: JSON?
    /// The plugin's reason.
    public var reason: String?
    /// The failure; nil for success.
    public var failure: PluginFailure?
    /// The fuel that the call used.
    public var fuel: Int
    /// The CPU time that the call used.
    public var cpuTime: Duration
    /// The time from its beginning to its end.
    public var elapsed: Duration
    /// The number of waits.
    public var waits: Int
    /// Whether the plugin ran as a shadow, without effect.
    public var isShadow: Bool
    /// Whether it replaced the server's answer to a push, in whole or in part.
    public var answersPush = false
    /// The lines that the plugin logged.
    public var log: [PluginLogLine]
    /// The values that the plugin added to the trace.
    public var trace: JSON
}

/// A line that a plugin logged.
public struct PluginLogLine: Sendable, Hashable {
    /// `debug`, `info`, `warn` or `error`.
    public var level: String
    /// The text, without the values of secrets.
    public var message: String
    /// The fields logged with the text.
    public var fields: JSON?
}

extension PluginDecision {
    /// The replacement of a hidden value.
    package static let hidden: JSON = "(hidden)"

    /// Returns the decision with the values of those fields hidden, at any depth; in JSON bodies too.
    package func hiding(_ fields: Set<PropertyName>) -> PluginDecision {
        guard !fields.isEmpty else { return self }
        var decision = self
        decision.input = input.map { Self.hiding($0, fields) }
        decision.answer = answer.map { Self.hiding($0, fields) }
        for line in log.indices { decision.log[line].fields = log[line].fields.map { Self.hiding($0, fields) } }
        return decision
    }

    private static func hiding(_ value: JSON, _ fields: Set<PropertyName>) -> JSON {
        if let elements = value.elements { return JSON(elements.map { hiding($0, fields) }) }
        guard let members = value.members else { return value }
        return JSON(
            members: members.map { name, member in
                if fields.contains(name) { return (name, hidden) }
                // A body is stored as text.
                if name == "body", let text = member.string, let json = try? JSON(parsing: text),
                    json.kind == .object || json.kind == .array
                {
                    return (name, JSON(hiding(json, fields).description))
                }
                return (name, hiding(member, fields))
            })
    }
}

extension PluginDecision {
    /// The beginning of each line in a file of decisions.
    static let lineHead = #"{"sequence":"#

    /// The entry as JSON: one line of a file of decisions.
    public var json: JSON {
        var json: JSON = [
            "sequence": JSON(sequence), "at": JSON(at.description), "plugin": JSON(plugin), "version": JSON(version),
            "hook": JSON(hook.rawValue), "input_hash": JSON(inputHash), "decision": JSON(decision),
            "fuel": JSON(fuel), "cpu_ns": JSON(cpuTime.wholeNanoseconds),
            "elapsed_ns": JSON(elapsed.wholeNanoseconds), "waits": JSON(waits), "shadow": JSON(isShadow),
        ]
        json["release"] = release.map { JSON($0) }
        if answersPush { json["answers_push"] = true }
        json["table"] = table.map { JSON($0) }
        json["record"] = recordID.map { JSON($0) }
        json["input"] = input
        json["answer"] = answer
        json["reason"] = reason.map { JSON($0) }
        if let failure {
            json["failure"] = ["kind": JSON(failure.kind.rawValue), "message": JSON(failure.message)]
            json["failure"]?["file"] = failure.file.map { JSON($0) }
            json["failure"]?["line"] = failure.line.map { JSON($0) }
        }
        if !log.isEmpty {
            json["log"] = JSON(
                log.map { line in
                    var json: JSON = ["level": JSON(line.level), "message": JSON(line.message)]
                    json["fields"] = line.fields
                    return json
                })
        }
        if trace.count > 0 { json["trace"] = trace }
        return json
    }

    /// Reads an entry.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` if it is invalid.
    public init(_ json: JSON, document: String = "decisions") throws(SluiceError) {
        let place = JSONPlace(json, in: document)
        guard let at = json["at"]?.string.flatMap({ Timestamp($0) }), let plugin = json["plugin"]?.string,
            let hook = json["hook"]?.string.flatMap({ HookKind(rawValue: $0) }),
            let decision = json["decision"]?.string
        else { throw place.expected("a decision, with at, plugin, hook and decision") }
        self.init(
            sequence: Int(json["sequence"]?.int ?? 0), at: at, plugin: plugin,
            version: json["version"]?.string ?? "", hook: hook, table: json["table"]?.string,
            recordID: json["record"]?.textID, inputHash: json["input_hash"]?.string ?? "", input: json["input"],
            decision: decision, answer: json["answer"], reason: json["reason"]?.string, failure: nil,
            fuel: Int(json["fuel"]?.int ?? 0), cpuTime: .nanoseconds(json["cpu_ns"]?.int ?? 0),
            elapsed: .nanoseconds(json["elapsed_ns"]?.int ?? 0), waits: Int(json["waits"]?.int ?? 0),
            isShadow: json["shadow"]?.bool ?? false, log: [], trace: json["trace"] ?? .object)
        answersPush = json["answers_push"]?.bool ?? false
        release = json["release"]?.int.map { Int($0) }
        if let failed = json["failure"] {
            let kind = failed["kind"]?.string.flatMap { PluginFailure.Kind(rawValue: $0) } ?? .runtime
            failure = PluginFailure(
                plugin: plugin, hook: hook.rawValue,
                ScriptFailure(
                    kind, failed["message"]?.string ?? "", file: failed["file"]?.string,
                    line: failed["line"]?.int.map { Int($0) }))
        }
        log = (json["log"]?.elements ?? []).map { line in
            PluginLogLine(
                level: line["level"]?.string ?? "info", message: line["message"]?.string ?? "", fields: line["fields"])
        }
    }
}
