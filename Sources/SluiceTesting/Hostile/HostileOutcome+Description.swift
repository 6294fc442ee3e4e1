internal import SluiceCore

extension HostileOutcome: CustomStringConvertible {
    /// The outcome in words: ``error `network`; the operation is pending``.
    public var description: String {
        var parts = [error.map { "error `\($0)`" }, rows.map { Self.text(ofRows: $0) }].compactMap { $0 }
        if let operation { parts.append("the operation is \(operation)") }
        if let second { parts.append("the second one is \(second)") }
        switch cursor {
        case .at(let time): parts.append("the cursor is at `\(time.prefix(32))`")
        case .token(let token): parts.append("the cursor is at the token `\(token.prefix(32))`")
        case .unchanged: break
        }
        if !texts.isEmpty { parts.append("nothing of it is changed") }
        return parts.isEmpty ? "nothing is changed" : parts.joined(separator: "; ")
    }

    private static func text(ofRows ids: [String]) -> String {
        if ids.isEmpty { return "no record" }
        if ids.count > 8 { return "\(ids.count) records" }
        let names = ids.map { id in
            let shown = String(
                String.UnicodeScalarView(
                    id.unicodeScalars.prefix(24).map { $0.properties.generalCategory == .control ? "␣" : $0 }))
            return "`\(shown)\(id.unicodeScalars.count > 24 ? "…" : "")`"
        }
        return "the records \(names.joined(separator: ", "))"
    }
}

extension HostileOutcome.Operation: CustomStringConvertible {
    /// What has become of it: ``pending for `network` ``.
    public var description: String {
        switch self {
        case .applied: "done"
        case .kept(let state, let code): "\(state.rawValue) for `\(code)`"
        }
    }
}
