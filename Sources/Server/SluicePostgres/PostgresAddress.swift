internal import CLibPQ
internal import Foundation
package import SluiceCore

/// The address of a PostgreSQL database: libpq's URL `postgres://…` with a few parameters of Sluice's own. The printed
/// form never shows user, password or parameters.
package struct PostgresAddress: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The parameters for libpq, by name.
    let options: [Option]
    /// Whether a pooler gives each transaction another server connection. Prepared statements and `LISTEN` are then not
    /// used, because they belong to one connection.
    package let isPooled: Bool
    /// The number of connections for reads.
    package let readers: Int
    /// The longest time of one statement.
    package let statementTimeout: Duration
    /// The longest wait for an answer, more than the server's limit for a statement. A request still queued by then is
    /// refused.
    package var patience: Duration { statementTimeout + .seconds(5) }
    /// The hosts, the port and the database.
    package let description: String

    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }

    struct Option: Sendable, Hashable {
        var name: String
        var value: String
    }

    /// The schemes of PostgreSQL URLs.
    package static func isAddress(_ text: String) -> Bool {
        text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
    }

    /// Reads a URL. Besides libpq's parameters it takes `pooler=transaction`, `readers=1…64` and
    /// `statement_timeout=SECONDS`.
    ///
    /// The server's certificate is checked (`sslmode=verify-full`), unless the URL disables this or the server is
    /// local.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument`. Its message has no part of the URL.
    package init(_ url: String) throws(SluiceError) {
        func refusal(_ reason: String) -> SluiceError {
            SluiceError(.invalidArgument, "the database's URL: \(reason)")
        }
        guard Self.isAddress(url) else { throw refusal("it begins with postgres://") }
        guard !url.utf8.contains(0) else { throw refusal("it holds a character that no URL has") }
        let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var rest: [Substring] = []
        var own: [String: String] = [:]
        for parameter in parts.dropFirst().first?.split(separator: "&") ?? [] {
            let pair = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(pair[0])
            if ["pooler", "readers", "statement_timeout"].contains(name) {
                own[name] = pair.count > 1 ? String(pair[1]) : ""
            } else {
                rest.append(parameter)
            }
        }
        guard own["pooler"].map({ $0 == "transaction" || $0 == "none" }) ?? true else {
            throw refusal("pooler is transaction or none")
        }
        isPooled = own["pooler"] == "transaction"
        guard let readers = Int(own["readers"] ?? "4"), (1...64).contains(readers) else {
            throw refusal("readers is 1 to 64")
        }
        self.readers = readers
        guard let seconds = Int64(own["statement_timeout"] ?? "30"), (1...3600).contains(seconds) else {
            throw refusal("statement_timeout is 1 to 3600 seconds")
        }
        statementTimeout = .seconds(seconds)
        var options = try Self.parse(String(parts[0]) + (rest.isEmpty ? "" : "?" + rest.joined(separator: "&")))
        func value(_ name: String) -> String? { options.first { $0.name == name }?.value }
        func setDefault(_ name: String, _ text: String) {
            if value(name) == nil { options.append(Option(name: name, value: text)) }
        }
        let hosts = (value("host") ?? value("hostaddr") ?? "").split(separator: ",").map(String.init)
        let isLocal = hosts.allSatisfy { $0.hasPrefix("/") || ["localhost", "127.0.0.1", "::1"].contains($0) }
        if !isLocal, value("sslmode") == nil {
            setDefault("sslmode", "verify-full")
            let system = "/etc/ssl/certs/ca-certificates.crt"
            if FileManager.default.fileExists(atPath: system) { setDefault("sslrootcert", system) }
        }
        for (name, text) in [
            ("client_encoding", "UTF8"), ("connect_timeout", "5"), ("fallback_application_name", "sluice"),
            ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "15000"),
        ] {
            setDefault(name, text)
        }
        self.options = options
        let host = hosts.isEmpty ? "local" : hosts.joined(separator: ",")
        let port = value("port").map { ":\($0)" } ?? ""
        description = "postgres://\(host)\(port)/\(value("dbname") ?? "")"
    }

    private static func parse(_ url: String) throws(SluiceError) -> [Option] {
        var message: UnsafeMutablePointer<CChar>?
        guard let list = PQconninfoParse(url, &message) else {
            // libpq's message may quote the URL with its password.
            PQfreemem(message)
            throw SluiceError(
                .invalidArgument,
                "the database's URL is not of the form postgres://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETERS")
        }
        defer { PQconninfoFree(list) }
        var options: [Option] = []
        var next = list
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val {
                options.append(Option(name: String(cString: keyword), value: String(cString: value)))
            }
            next += 1
        }
        return options
    }
}
