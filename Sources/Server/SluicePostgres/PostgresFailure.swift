package import SluiceCore

/// What PostgreSQL, or libpq, said went wrong: the cause of a ``SluiceError`` of a store code.
package struct PostgresFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The SQLSTATE; nil where the connection is at fault.
    package var state: String?
    /// The server's own words. They may repeat values, so they are for logs of the operator alone.
    package var reason: String

    package init(state: String?, reason: String) {
        self.state = state
        self.reason = reason
    }

    package var description: String { state.map { "PostgreSQL \($0): \(reason)" } ?? reason }

    /// The failure of what has waited for a connection for as long as it may.
    package static let tooLate = PostgresFailure(
        state: nil, reason: "what came before was not answered in time")

    /// The SQLSTATE of a lock that was not free in time.
    package static let lockTaken = "55P03"

    /// Stands in the place of an SQLSTATE where TLS could not be agreed on: libpq has none for it.
    static let untrusted = "TLS"

    /// Whether the connection is lost with it.
    package var isBroken: Bool {
        guard let state else { return true }
        return state.hasPrefix("08") || ["57P01", "57P02", "57P03", "25P03"].contains(state)
    }

    /// Whether the same transaction may succeed if it is tried again.
    package var isTransient: Bool {
        guard let state, !isBroken else { return true }
        // Serialization failures, deadlocks, locks, timeouts; statements and plans that the server has forgotten; a server
        // that has become a replica.
        return state.hasPrefix("40") || [Self.lockTaken, "57014", "26000", "0A000", "25006", "53300"].contains(state)
    }

    /// The error as the storage's user sees it. `address` tells which database.
    package func error(_ address: PostgresAddress) -> SluiceError {
        let (code, message) = meaning(address)
        return SluiceError(code, message, cause: self)
    }

    private var firstLine: String { reason.split(separator: "\n").first.map(String.init) ?? "no reason was given" }

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
