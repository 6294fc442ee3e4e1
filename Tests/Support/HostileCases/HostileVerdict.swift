public import SluiceCore

/// Holds what a case expects against what came about.
struct HostileVerdict {
    let hostile: HostileCase
    let before: HostileScene.State
    let after: HostileScene.State
    let server: HostileServer

    private var outcome: HostileOutcome { hostile.outcome }

    func judge(_ report: inout HostileReport) {
        judgeError(&report)
        judgeStore(&report)
        judgeQueue(&report)
        judgeNetwork(&report)
    }

    private func judgeError(_ report: inout HostileReport) {
        let (error, expected) = (report.error, outcome.error)
        report.demand(
            error?.code == expected,
            "ended with \(error.map { "the error \($0.code): \($0)" } ?? "no error") in the place of "
                + (expected.map { "the error \($0)" } ?? "none"))
        let texts =
            [error.map { "\($0)" }]
            + after.operations.map {
                $0.failure.map { "\($0.code) \($0.message) \($0.serverRecord?.description ?? "")" }
            }
        let secrets = Set(server.requests.flatMap(HostileEcho.credentials)).flatMap { secret in
            HostileEcho.allCases.map { $0.text(secret).lowercased() }
        }
        for case let text? in texts {
            report.demand(!text.contains(HostileScene.secret), "a secret stands in an error: \(text)")
            let found = secrets.first { text.lowercased().contains($0) }
            report.demand(found == nil, "a secret stands in an error as \(found ?? ""): \(text)")
            report.demand(text.utf8.count < 4096, "an error is \(text.utf8.count) bytes long")
            report.demand(
                !text.unicodeScalars.contains { $0.properties.generalCategory == .control },
                "an error holds control characters")
        }
    }

    private func judgeStore(_ report: inout HostileReport) {
        let printed = after.rows.map(\.description).joined(separator: "\n")
        for text in outcome.texts {
            report.demand(printed.contains(text), "“\(text.prefix(60))” stands nowhere in \(printed.prefix(500))")
        }
        if hostile.call.isPush {
            judgePushed(&report)
        } else if let rows = outcome.rows?.map(RecordID.init), hostile.call.isPull {
            let found = after.rows.map { $0["id"]?.textID ?? "" }
            report.demand(
                found == rows,
                "the table holds \(found.map { $0.text.prefix(40) }) in the place of \(rows.map { $0.text.prefix(40) })"
            )
        } else {
            report.demand(after.rows == before.rows, "the rows have changed: \(after.rows)")
        }
        switch outcome.cursor {
        case .unchanged:
            // What a comparison found is looked at once more, and a doubtful list is followed by another comparison.
            let doubts: JSON = [
                "owed": .null, "reconcile": .null, "compared": .null, "comparedAt": .null, "gapAt": .null,
            ]
            func positions(_ cursors: [JSON]) -> [JSON] { cursors.map { $0.setting(doubts) } }
            report.demand(
                positions(after.cursors) == positions(before.cursors), "the cursor has moved: \(after.cursors)")
        case .at(let time):
            let found = after.cursors.compactMap(Cursor.init(record:)).compactMap(\.position?.updatedAt)
            report.demand(found == [time], "the cursor is at \(found) in the place of \(time)")
        case .token(let token):
            let found = after.cursors.compactMap(Cursor.init(record:)).compactMap(\.position?.token)
            report.demand(
                found == [token], "the cursor is at \(found.map { $0.prefix(40) }) in the place of \(token.prefix(40))")
        }
    }

    /// The operations that are pushed, by their records, and what has to become of each.
    private var expected: [(recordID: RecordID, operation: HostileOutcome.Operation)] {
        hostile.call.recordIDs.enumerated().compactMap { index, id in
            (index > 0 ? outcome.second ?? outcome.operation : outcome.operation).map { (id, $0) }
        }
    }

    /// A record that was pushed is as the application left it, with the server's version if the server has it.
    private func judgePushed(_ report: inout HostileReport) {
        func row(_ state: HostileScene.State, _ id: RecordID) -> JSON? { state.rows.first { $0["id"]?.textID == id } }
        let applied = Set(expected.filter { $0.operation == .applied }.map(\.recordID))
        func others(_ state: HostileScene.State) -> [JSON] {
            state.rows.filter { !applied.contains($0["id"]?.textID ?? "") }
        }
        report.demand(others(after) == others(before), "the rows have changed: \(after.rows)")
        for id in applied {
            let (old, new) = (row(before, id), row(after, id))
            report.demand(new?["text"] == old?["text"], "the record is \(new?.description ?? "gone")")
            if hostile.call != .delete {
                report.demand(new?["version"]?.string != nil, "the record has no version of the server's")
            }
        }
    }

    private func judgeQueue(_ report: inout HostileReport) {
        func others(_ state: HostileScene.State) -> [TableOperation] {
            state.operations.filter { $0.table != HostileScene.table }
        }
        report.demand(others(after) == others(before), "an operation that was not sent has changed")
        let found = after.operations.filter { $0.table == HostileScene.table }
        let known = Set(hostile.call.recordIDs)
        report.demand(
            found.allSatisfy { known.contains($0.recordID) } && Set(found.map(\.recordID)).count == found.count,
            "there are operations that nobody made")
        for (id, expected) in expected {
            let operation = found.first { $0.recordID == id }
            switch expected {
            case .applied:
                report.demand(operation == nil, "the operation on \(id) is still there: \(Self.text(operation))")
            case .kept(let state, let code):
                report.demand(operation != nil, "the operation on \(id) is gone, and nothing proves it done")
                report.demand(
                    operation?.state == state && operation?.failure?.code == code.description,
                    "the operation on \(id) is \(Self.text(operation)) in the place of \(state.rawValue) for \(code)")
            }
        }
    }

    private static func text(_ operation: TableOperation?) -> String {
        guard let operation else { return "gone" }
        return "\(operation.state.rawValue) for \(operation.failure?.code ?? "no reason"), "
            + "“\(operation.failure?.message ?? "")”"
    }

    private func judgeNetwork(_ report: inout HostileReport) {
        let requests = server.requests
        report.requests = requests.count
        report.demand(
            server.elsewhere.isSilent,
            "the second listener heard \(server.elsewhere.requests.map(\.text)) on "
                + "\(server.elsewhere.connectionCount) connections")
        report.demand(
            requests.count <= hostile.limits.requests,
            "the client made \(requests.count) requests; \(hostile.limits.requests) are allowed")
        if let memory = report.memory, let allowed = hostile.limits.memory {
            report.demand(memory <= allowed, "the process grew by \(memory >> 20) MB")
        }
        for request in requests {
            report.demand(
                request.values("host") == [request.server], "a request for \(request.values("host")) came here")
            // Otherwise the second listener's silence would say nothing.
            report.demand(
                request.values(HostileScene.field.name) == [HostileScene.field.value]
                    && request.values("x-zumo-auth").contains { $0.hasPrefix(HostileScene.token) },
                "a request came without its credentials")
            report.demand(!request.target.contains(HostileScene.secret), "a secret stands in an address")
        }
    }
}

/// How a trial went.
public struct HostileReport: Sendable, CustomStringConvertible {
    /// The case.
    public let hostile: HostileCase
    /// What was not as the case expects it; empty if all was.
    public internal(set) var violations: [String] = []
    /// The error with which the call ended.
    public internal(set) var error: SluiceError?
    /// How many requests the hostile server was asked.
    public internal(set) var requests = 0
    /// How long the call took.
    public internal(set) var duration = Duration.zero
    /// By how many bytes the process grew at the most; nil where that was not looked at or cannot be.
    public internal(set) var memory: Int?

    /// Whether all was as the case expects it.
    public var holds: Bool { violations.isEmpty }

    /// The case, with what does not hold.
    public var description: String { ([hostile.id] + violations).joined(separator: "\n  ") }

    /// Notes a violation unless `condition` is true.
    mutating func demand(_ condition: Bool, _ violation: @autoclosure () -> String) {
        if !condition { violations.append(violation()) }
    }
}
