public import SluiceCore

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
