internal import CLibPQ
internal import Foundation
package import SluiceCore

/// One connection to a PostgreSQL server, for one thread at a time.
///
/// Failures are thrown as ``PostgresFailure``. After one with ``PostgresFailure/isBroken`` the connection is no longer
/// usable. Every call has a time limit: the connection to an unresponsive server is closed.
package final class PostgresConnection {
    package let address: PostgresAddress
    private var handle: OpaquePointer?
    /// The names of the prepared statements, by their text and the kinds of their values.
    private var prepared: [String: String] = [:]
    /// The number of executed statements that are not reads.
    package private(set) var changes = 0
    /// The most prepared statements of the connection.
    private static let mostPrepared = 256

    /// Opens the connection, with the time limit of the address.
    package init(_ address: PostgresAddress) throws {
        self.address = address
        let names = address.options.map { strdup($0.name) }
        let values = address.options.map { strdup($0.value) }
        defer { for text in names + values { free(text) } }
        let handle = PQconnectdbParams(
            names.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 0)
        self.handle = handle
        guard let handle, PQstatus(handle) == CONNECTION_OK else {
            let reason = handle.flatMap { PQerrorMessage($0) }.map { String(cString: $0) } ?? "no memory"
            throw PostgresFailure(state: Self.state(of: reason), reason: reason)
        }
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        guard PQserverVersion(handle) >= 130_000 else {
            throw SluiceError(
                .storeSchema,
                "the database \(address) is a PostgreSQL older than 13, which the backend does not support")
        }
        guard PQparameterStatus(handle, "server_encoding").map({ String(cString: $0) }) ?? "UTF8" == "UTF8" else {
            throw SluiceError(.storeSchema, "the database \(address) does not have the encoding UTF8")
        }
        if !address.isPooled { try execute(Self.settings(isLocal: false)) }
    }

    /// Returns the statements that fix the forms of values against the defaults of the role, the database or the
    /// server: doubles with all digits, times and constants in their standard form. `isLocal` limits them to the open
    /// transaction.
    package static func settings(isLocal: Bool) -> String {
        [
            "client_encoding = 'UTF8'", "extra_float_digits = 3", "DateStyle = 'ISO, MDY'", "TimeZone = 'UTC'",
            "IntervalStyle = 'postgres'", "standard_conforming_strings = on",
        ].map { "SET \(isLocal ? "LOCAL " : "")\($0); " }.joined()
    }

    deinit { close() }

    /// Returns an SQLSTATE for a refused connection, for which libpq gives none. Permanent errors are recognized by
    /// their message.
    private static func state(of reason: String) -> String? {
        if reason.contains("authentication failed") || reason.contains("no pg_hba.conf entry") { return "28000" }
        if reason.contains("database") && reason.contains("does not exist") { return "3D000" }
        if reason.contains("role") && reason.contains("does not exist") { return "28000" }
        if reason.contains("certificate") || reason.contains("does not support SSL") {
            return PostgresFailure.untrusted
        }
        return nil
    }

    package func close() {
        if let handle { PQfinish(handle) }
        handle = nil
    }

    /// Whether the connection can still be used.
    package var isOpen: Bool { handle.map { PQstatus($0) == CONNECTION_OK } ?? false }

    /// Returns the text as an SQL constant.
    package func literal(_ text: String) throws -> String {
        let handle = try open()
        guard !text.utf8.contains(0), let quoted = PQescapeLiteral(handle, text, text.utf8.count) else {
            throw PostgresFailure(state: "22021", reason: "the text holds a character that PostgreSQL does not store")
        }
        defer { PQfreemem(quoted) }
        return String(cString: quoted)
    }

    private func open() throws(PostgresFailure) -> OpaquePointer {
        guard let handle else { throw PostgresFailure(state: nil, reason: "the connection is closed") }
        return handle
    }

    // MARK: Statements

    /// Runs several statements without values in one round trip; returns a result for each.
    @discardableResult
    package func execute(_ sql: String) throws -> [PostgresResult] {
        let handle = try open()
        guard PQsendQuery(handle, sql) == 1 else { throw lost() }
        return try results()
    }

    /// Runs one statement, with values for `$1`, `$2` and so on. The server infers the type of a text from the
    /// statement.
    ///
    /// - Parameter isKept: whether the statement stays prepared for later calls.
    package func query(_ sql: String, _ values: [SQLValue] = [], isKept: Bool = true) throws -> PostgresResult {
        let handle = try open()
        let parameters = try PostgresParameters(values)
        let name = isKept && !address.isPooled ? try statement(sql, parameters) : nil
        let isSent = parameters.withPointers { texts, types in
            let count = Int32(truncatingIfNeeded: values.count)
            return if let name {
                PQsendQueryPrepared(handle, name, count, texts, nil, nil, 0)
            } else {
                PQsendQueryParams(handle, sql, count, types, texts, nil, nil, 0)
            }
        }
        guard isSent == 1 else { throw lost() }
        guard let result = try results().last else { throw lost() }
        let verb = result.command.prefix { $0 != " " }
        if !["SELECT", "FETCH", "DECLARE", "CLOSE"].contains(verb) { changes += 1 }
        return result
    }

    /// Returns the name of the prepared statement.
    private func statement(_ sql: String, _ parameters: PostgresParameters) throws -> String {
        let key = parameters.kinds + sql
        if let name = prepared[key] { return name }
        if prepared.count >= Self.mostPrepared {
            prepared = [:]
            try execute("DEALLOCATE ALL")
        }
        let name = "s\(prepared.count)"
        let handle = try open()
        let isSent = parameters.withPointers { _, types in
            PQsendPrepare(handle, name, sql, Int32(truncatingIfNeeded: parameters.count), types)
        }
        guard isSent == 1 else { throw lost() }
        _ = try results()
        prepared[key] = name
        return name
    }

    // MARK: Waiting

    private func results() throws -> [PostgresResult] {
        var results: [PostgresResult] = []
        var failure: PostgresFailure?
        let deadline = ContinuousClock.now + address.patience
        while let result = try next(deadline) {
            if result.status == PGRES_FATAL_ERROR || result.status == PGRES_BAD_RESPONSE {
                failure = failure ?? result.failure
            }
            results.append(result)
        }
        if var failure {
            if !isOpen { failure.state = nil }
            // The server has dropped a statement or a plan, for example after a change of a column's type. Closing the
            // connection drops all its prepared statements.
            if ["26000", "0A000"].contains(failure.state) { close() }
            throw failure
        }
        return results
    }

    private func next(_ deadline: ContinuousClock.Instant) throws -> PostgresResult? {
        let handle = try open()
        while true {
            // Sends the rest of a statement that did not fit into the socket's buffer.
            let flushed = PQflush(handle)
            if flushed < 0 { throw lost() }
            if flushed == 0, PQisBusy(handle) == 0 { break }
            var descriptor = pollfd(
                fd: PQsocket(handle), events: Int16(POLLIN) | (flushed == 1 ? Int16(POLLOUT) : 0), revents: 0)
            let left = (deadline - ContinuousClock.now) / .milliseconds(1)
            guard left > 0 else {
                close()
                throw PostgresFailure(state: nil, reason: "the server did not answer in time; the connection is cut")
            }
            let ready = poll(&descriptor, 1, Int32(clamping: Int64(nearest: min(left, 60_000)) ?? 60_000))
            if ready < 0, errno != EINTR { throw lost() }
            if ready > 0, PQconsumeInput(handle) == 0 { throw lost() }
        }
        return PQgetResult(handle).map(PostgresResult.init)
    }

    /// Returns the failure of a lost connection.
    private func lost() -> PostgresFailure {
        let reason = handle.flatMap { PQerrorMessage($0) }.map { String(cString: $0) } ?? "the connection is closed"
        close()
        return PostgresFailure(state: nil, reason: reason)
    }

    // MARK: Notifications

    /// Waits for notifications on the connection's channels, at most for the given time; returns whether there were
    /// any.
    package func waitForNotification(_ timeout: Duration) throws -> Bool {
        let handle = try open()
        var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        let milliseconds = Int32(clamping: Int64(nearest: timeout / .milliseconds(1)) ?? 60_000)
        if poll(&descriptor, 1, milliseconds) > 0, PQconsumeInput(handle) == 0 { throw lost() }
        var isNotified = false
        while let notification = PQnotifies(handle) {
            PQfreemem(notification)
            isNotified = true
        }
        return isNotified
    }
}

/// A statement's values in libpq's form: texts that end in a zero byte, with the types of values that the server must
/// not infer.
struct PostgresParameters {
    /// A letter for the kind of each value.
    private(set) var kinds = ""
    let count: Int
    private var bytes: [CChar] = []
    /// The offset of each text; nil for NULL.
    private var starts: [Int?] = []
    private var types: [UInt32] = []

    init(_ values: [SQLValue]) throws(PostgresFailure) {
        count = values.count
        for value in values {
            switch value {
            case .null: starts.append(nil)
            case .integer(let number): append(String(number))
            case .real(let number): append(String(number))
            case .text(let text):
                guard !text.utf8.contains(0) else {
                    throw PostgresFailure(
                        state: "22021", reason: "the text holds a character that PostgreSQL does not store")
                }
                append(text)
            case .blob: throw PostgresFailure(state: "22021", reason: "bytes are no value of a table")
            }
            switch value {
            // int8 and float8
            case .integer: (kinds, types) = (kinds + "i", types + [20])
            case .real: (kinds, types) = (kinds + "r", types + [701])
            default: (kinds, types) = (kinds + "t", types + [0])
            }
        }
        kinds += ":"
    }

    private mutating func append(_ text: String) {
        starts.append(bytes.count)
        for byte in text.utf8 { bytes.append(CChar(bitPattern: byte)) }
        bytes.append(0)
    }

    func withPointers<Result>(
        _ body: (_ texts: [UnsafePointer<CChar>?], _ types: [UInt32]) -> Result
    ) -> Result {
        bytes.withUnsafeBufferPointer { buffer in
            body(starts.map { start in start.flatMap { start in buffer.baseAddress.map { $0 + start } } }, types)
        }
    }
}
