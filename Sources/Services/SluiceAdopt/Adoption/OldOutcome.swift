internal import SluiceBase
internal import SluiceSync
internal import SluiceWire

/// The state of an adopted operation, from the old store's notes of its outcome.
struct OldOutcome {
    private let old: OldOperation
    private let server: JSON?

    /// - Parameters:
    ///   - server: the server's record of the stored answer, under the wire's names.
    ///   - version: the name of its version. A record without one is no evidence.
    init(_ old: OldOperation, server: JSON?, _ version: PropertyName) {
        self.old = old
        self.server = server?[version]?.string == nil ? nil : server
    }

    /// Sets state and failure.
    ///
    /// - Returns: whether the operation is a conflict that is held with the server's record.
    func apply(to operation: inout TableOperation) -> Bool {
        switch old.sent {
        case .no: return false
        case .maybe:
            operation.attempts = 1
            operation.isUncertain = true
            if let message = old.message { operation.failure = .init(code: "network", message: message) }
            return false
        case .answered(let status):
            operation.attempts = 1
            let code = SluiceError.Code(status: status) ?? .brokenProtocol
            operation.failure = .init(
                code: code.description, message: old.message ?? Self.message(status, server),
                status: status)
            switch status {
            case 409, 412:
                // With the server's record it is decided as any conflict; without it the next push reads the record.
                // That may be the operation's own, by an earlier send whose answer was lost.
                operation.isUncertain = old.kind == .insert || server == nil
                guard let server, old.kind != .delete || status == 412 else { return false }
                operation.state = .parked
                operation.failure?.code = SluiceError.Code.conflict.description
                operation.failure?.serverRecord = server
                return true
            // The record may be gone, which the next push finds out.
            case 404, 410: return false
            case _ where AnswerStatus.isPassing(status) || status >= 500:
                operation.isUncertain = !AnswerStatus.showsNothingDone(status)
                return false
            default:
                operation.state = .parked
                return false
            }
        }
    }

    private static func message(_ status: Int, _ server: JSON?) -> String {
        server == nil
            ? "the old store keeps the status \(status) alone"
            : "the server has another record, by its answer to the old client"
    }
}
