internal import SluiceCore

extension HostileOutcome: CustomStringConvertible {
    /// The outcome in words: ``error `network`; the operation is pending``.
    public var description: String {
        var parts = [error.map { "error `\($0)`" }, rows.map { Self.text(ofRows: $0) }].compactMap { $0 }
        switch operation {
        case .applied: parts.append("the operation is done")
        case .kept(let state, let code): parts.append("the operation is \(state.rawValue) for `\(code)`")
        case nil: break
        }
        if case .at(let time) = cursor { parts.append("the cursor is at `\(time.prefix(32))`") }
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
