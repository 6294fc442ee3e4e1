package import SluiceCore

/// An error of PostgreSQL or libpq: the cause of a ``SluiceError`` of a store code.
package struct PostgresFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The SQLSTATE; nil for a failure of the connection.
    package var state: String?
    /// The server's message. It may contain values, so it is for the operator's logs only.
    package var reason: String

    package init(state: String?, reason: String) {
        self.state = state
        self.reason = reason
    }

    package var description: String { state.map { "PostgreSQL \($0): \(reason)" } ?? reason }

    /// The failure of a request that has waited too long for a connection.
    package static let tooLate = PostgresFailure(
        state: nil, reason: "what came before was not answered in time")

    /// The SQLSTATE of a lock timeout.
    package static let lockTaken = "55P03"

    /// The stand-in SQLSTATE for a failed TLS negotiation, for which libpq has none.
    static let untrusted = "TLS"

    /// Whether the failure has broken the connection.
    package var isBroken: Bool {
        guard let state else { return true }
        return state.hasPrefix("08") || ["57P01", "57P02", "57P03", "25P03"].contains(state)
    }

    /// Whether the same transaction may succeed if it is tried again.
    package var isTransient: Bool {
        guard let state, !isBroken else { return true }
        // Serialization failures, deadlocks, locks and timeouts; statements and plans dropped by the server; a server
        // that has become a replica.
        return state.hasPrefix("40") || [Self.lockTaken, "57014", "26000", "0A000", "25006", "53300"].contains(state)
    }

    /// Returns the error for the storage's caller. `address` names the database.
    package func error(_ address: PostgresAddress) -> SluiceError {
        let (code, message) = meaning(address)
        return SluiceError(code, message, cause: self)
    }

    private var firstLine: String { reason.split(separator: "\n").first.map(String.init) ?? "no reason was given" }

    /// Whether no part of PostgreSQL uses the code's class: P0 is PL/pgSQL's `RAISE`, and those from 5 to 9 and from I to Z
    /// are free for applications (PostgreSQL, appendix A; ISO 9075-2, 23.1).
    private func isRaised(_ state: String) -> Bool {
        let known = ["53", "54", "55", "57", "58", "72", "HV", "XX"]
        guard let first = state.first, !known.contains(String(state.prefix(2))) else { return false }
        return state.hasPrefix("P0") || first.isNumber && first >= "5" || first.isLetter && first >= "I"
            || state == "45000"
    }

    private func meaning(_ address: PostgresAddress) -> (SluiceError.Code, String) {
        guard let state else { return (.storeBusy, "the database \(address) cannot be reached: \(firstLine)") }
        switch state.prefix(2) {
        case _ where isTransient: return (.storeBusy, "the database \(address) is busy; try again")
        case Self.untrusted.prefix(2):
            return (
                .storeInputOutput,
                "the database \(address) is not spoken to: its TLS, or its certificate, is not what the URL asks for"
            )
        case "28": return (.storeInputOutput, "the database \(address) does not let this user in")
        case "3D": return (.storeInputOutput, "there is no database \(address)")
        case "22", "54": return (.invalidRecord, "PostgreSQL cannot hold a value (\(state))")
        case "23": return (.invalidRecord, "a constraint of the database refuses the record (\(state))")
        // RAISE EXCEPTION of a trigger, with the code of PL/pgSQL or one of its author's.
        case _ where isRaised(state): return (.invalidRecord, "a trigger of the database refuses the record (\(state))")
        case "53":
            return state == "53100"
                ? (.storeFull, "no space is left for the database \(address); nothing of this was written")
                : (.storeBusy, "the database \(address) has no resources left; try again")
        case "42" where state == "42501":
            return (.storeInputOutput, "the database \(address) does not allow this user what the backend needs")
        case "42":
            return (
                .storeSchema,
                "the database \(address) has not the tables and columns that the backend made; did somebody change them? "
                    + "(\(state))"
            )
        default: return (.storeInputOutput, "the database \(address) failed (\(state))")
        }
    }
}
