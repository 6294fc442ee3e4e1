package import SluiceCore
internal import Synchronization

/// The result of a hook around a server's table.
package enum TableVerdict: Sendable {
    /// The records of the answer.
    case rows([JSON])
    /// The request is refused.
    case refuse(status: Int, message: String)

    /// Reads a hook's result.
    ///
    /// - Parameters:
    ///   - given: the records from `next`; nil if it was not called.
    /// - Throws: ``ScriptFailure`` of kind `badResult`.
    package static func read(
        _ result: HookReturn, of hook: HookKind, given: [JSON]?, _ check: RecordCheck
    ) throws -> HookAnswer {
        if result.type == "table_answer", let document = result.value, let given {
            var isChanged = false
            let rows = try given.enumerated().map { index, original in
                guard let row = document["rows"]?[String(index + 1)] else { return original }
                let shown = try check.shown(row, from: original)
                isChanged = isChanged || shown != original
                return shown
            }
            return HookAnswer(TableVerdict.rows(rows), isChanged ? "changed" : "none")
        }
        guard let decision = try DecisionDocument(result, of: hook, also: "the answer of next(req)") else {
            throw ScriptFailure(
                .badResult,
                "\(hook.rawValue) returned nothing; it returns the answer, return next(req), or decide.refuse")
        }
        let status = decision.json["status"].map { $0.int.map { Int(clamping: $0) } ?? 0 } ?? 400
        guard (400...599).contains(status) else {
            throw ScriptFailure(.badResult, "decide.refuse: status is 400 to 599")
        }
        let message = decision.json["message"]?.string ?? decision.reason ?? "refused"
        return decision.answer(TableVerdict.refuse(status: status, message: String(message.prefix(512))))
    }
}

/// The records that `next` returned to a script, kept for comparison with its answer.
package final class GivenRows: Sendable {
    private let rows = Mutex<[JSON]?>(nil)

    package init() {}

    /// Keeps the records, and returns their document for the script.
    package func give(_ rows: [JSON]) -> JSON {
        self.rows.withLock { $0 = rows }
        return JSON(members: [
            ("count", JSON(rows.count)),
            ("rows", JSON(members: rows.enumerated().map { (String($0 + 1), $1) })),
        ])
    }

    package var given: [JSON]? { rows.withLock { $0 } }
}
