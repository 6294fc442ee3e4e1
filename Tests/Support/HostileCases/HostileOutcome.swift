public import SluiceCore

/// How a case has to end. Whatever else it says, the second listener has heard nothing, no error shows a secret, and an
/// operation that is not proven done is still in the queue.
public struct HostileOutcome: Sendable, Hashable {
    /// What has become of the cursor of the named pull.
    public enum Cursor: Sendable, Hashable {
        /// It is as it was.
        case unchanged
        /// It is at that time, as the server wrote it.
        case at(String)
        /// It is past that change token.
        case token(String)
    }

    /// What has become of the operation that was pushed.
    public enum Operation: Sendable, Hashable {
        /// It is done and gone: the server's answer proves it.
        case applied
        /// It is in the queue in that state, with a failure of that code.
        case kept(TableOperation.State, SluiceError.Code)
    }

    /// The code of the error with which the call ends; nil if it ends without one.
    public var error: SluiceError.Code?
    /// The ids that the table holds afterwards, in the order of their bytes, or that an online call gives, in the order
    /// in which they came; nil if the rows are exactly as they were.
    public var rows: [String]?
    /// Texts that stand in the rows afterwards, as JSON prints them: numbers and texts that must not change.
    public var texts: [String] = []
    /// What has become of the cursor.
    public var cursor: Cursor
    /// What has become of the operation; nil where the call sends none.
    public var operation: Operation?
    /// What has become of the second operation of a batch; nil where that is the same.
    public var second: Operation?

    /// An outcome.
    public init(
        error: SluiceError.Code? = nil, rows: [String]? = nil, cursor: Cursor = .unchanged, operation: Operation? = nil
    ) {
        self.error = error
        self.rows = rows
        self.cursor = cursor
        self.operation = operation
    }

    /// The call ends with an error, and rows, cursor and queue are as they were.
    public static func fails(_ code: SluiceError.Code) -> HostileOutcome { HostileOutcome(error: code) }

    /// The call ends well and has changed nothing here.
    public static let passes = HostileOutcome()

    /// The call ends well: a pull has brought the table to those ids, and its cursor to that time.
    public static func brings(_ ids: [String], cursor: Cursor = .unchanged, texts: [String] = []) -> HostileOutcome {
        var outcome = HostileOutcome(rows: ids, cursor: cursor)
        outcome.texts = texts
        return outcome
    }

    /// The push has sent the operation, and the server's answer proves it done.
    public static let applied = HostileOutcome(operation: .applied)

    /// As ``applied``, and those texts stand in the record that is stored.
    public static func applied(with texts: [String]) -> HostileOutcome {
        var outcome = applied
        outcome.texts = texts
        return outcome
    }

    /// The operation stays, to be sent again by the next push.
    ///
    /// - Parameter ends: the code of the error that ends the push; nil if the push goes on with the others.
    public static func waits(_ code: SluiceError.Code, ends: SluiceError.Code? = nil) -> HostileOutcome {
        HostileOutcome(error: ends, operation: .kept(.pending, code))
    }

    /// The operation stays, and waits for a decision.
    public static func parks(_ code: SluiceError.Code) -> HostileOutcome {
        HostileOutcome(operation: .kept(.parked, code))
    }
}

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
