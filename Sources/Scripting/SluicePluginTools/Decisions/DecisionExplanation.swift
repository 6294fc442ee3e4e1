public import SluiceCore
public import SluiceLua

/// An explanation of one decision: the plugin's input, its answer and reason, and the result for each field.
public struct DecisionExplanation: ToolReport {
    /// The decision.
    public let decision: PluginDecision
    /// The number of its line in a file; nil if it is not from a file.
    public let line: Int?
    /// Whether the call succeeded.
    public var isGood: Bool { decision.failure == nil }

    /// Explains a decision.
    public init(_ decision: PluginDecision) {
        self.decision = decision
        line = nil
    }

    /// Explains a decision of a file.
    public init(_ line: DecisionFile.Line) {
        decision = line.decision
        self.line = line.number
    }

    /// The explanation, line by line.
    public var lines: [String] {
        let entry = decision
        let about = [entry.table.map { "table \($0)" }, entry.recordID.map { "record \($0)" }].compactMap { $0 }
        var lines = [
            "\(line.map { "line \($0), " } ?? "")#\(entry.sequence) \(entry.at): \(entry.plugin) \(entry.version), \(entry.hook.rawValue)"
                + (about.isEmpty ? "" : " (\(about.joined(separator: ", ")))")
        ]
        if let failure = entry.failure {
            let place = failure.file.map { " in \($0):\(failure.line ?? 0)" } ?? ""
            lines.append("failed with \(failure.kind.rawValue)\(place): \(failure.message)")
        } else {
            lines.append("decided \(entry.decision)" + (entry.reason.map { ": \($0)" } ?? ""))
        }
        if entry.answersPush { lines.append("this stood for the server's answer to a push") }
        if entry.isShadow { lines.append("in shadow: it had no effect") }
        let micros = entry.elapsed.wholeNanoseconds / 1000
        lines.append("cost \(entry.fuel) fuel, \(micros) µs, \(entry.waits.counted("wait"))")
        lines += entry.log.map { "logged \($0.level): \($0.message)" + ($0.fields.map { " \($0)" } ?? "") }
        guard let input = entry.input else { return lines + ["its input was not kept"] }
        if let conflict = input["conflict"] {
            lines += table(conflict)
        } else {
            lines += (input.members ?? []).map { "given \($0): \(FixtureComparison.words($1))" }
        }
        if var answer = entry.answer {
            let record = answer["record"]
            // The answer of a merge by rules holds the rules; the record is their result.
            if answer["fields"] != nil { answer["record"] = nil }
            lines.append("answered \(FixtureComparison.words(answer))")
            if entry.decision == "merge", let record { lines.append("merged to \(FixtureComparison.words(record))") }
        }
        return lines
    }

    /// Returns a line for each field of a conflict: its base value, and both sides' values.
    private func table(_ conflict: JSON) -> [String] {
        let sides = ["base", "client", "server"].map { (name: $0, record: conflict[$0]) }
        var names: [PropertyName] = []
        for (_, record) in sides { names += (record?.names ?? []).filter { !names.contains($0) } }
        let both = Set((conflict["both_changed"]?.elements ?? []).compactMap { $0.string.map(PropertyName.init) })
        return names.map { name in
            let values = sides.map { "\($0) \($1 == nil ? "(no record)" : FixtureComparison.words($1?[name]))" }
            let answer = decision.answer
            let record = decision.decision == "merge" ? answer?["record"] : nil
            let result = record.map { $0[name] } ?? answer?["fields"]?[name]
            let isDecided = record != nil || result != nil
            return "  \(name): \(values.joined(separator: ", "))"
                + (both.contains(name) ? ", changed on both sides" : "")
                + (isDecided ? " -> \(FixtureComparison.words(result))" : "")
        }
    }

    /// The decision as JSON, with its `line`.
    public var json: JSON {
        guard let line else { return decision.json }
        return decision.json.setting(["line": JSON(line)])
    }
}
