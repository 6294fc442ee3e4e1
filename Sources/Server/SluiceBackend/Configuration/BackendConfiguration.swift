internal import Foundation
internal import SluiceConfiguration
public import SluiceCore

/// What a backend serves: a database, and the tables in it.
///
/// ```swift
/// let configuration = BackendConfiguration(database: .memory, tables: [.init("todos")])
/// ```
public struct BackendConfiguration: Sendable, Hashable {
    /// Where the records are kept.
    public enum Database: Sendable, Hashable {
        /// A SQLite file; it is made if it is not there, its directory is not.
        case sqlite(path: String)
        /// In memory, for as long as the backend is open.
        case memory
        /// A PostgreSQL database, which other backends may serve at the same time.
        case postgres(PostgresDatabase)
    }

    /// Plugins that an operator has written.
    public struct Plugins: Sendable, Hashable {
        /// The policy's file.
        public var policy: String
        /// The folder with the plugins' secrets, a file for each; nil for none.
        public var secrets: String?

        /// The plugins of a policy.
        public init(policy: String, secrets: String? = nil) {
            self.policy = policy
            self.secrets = secrets
        }
    }

    /// A table's first records.
    public enum Seed: Sendable, Hashable {
        /// A JSON file with an array of records, or an object that holds one under `records`, `rows` or the table's
        /// name.
        case file(path: String)
        /// The records themselves.
        case records([JSON])
    }

    /// Where the records are kept.
    public var database: Database
    /// A streaming replica of a PostgreSQL database that reads are answered from as far as it is up to date; nil where all
    /// are answered from the database.
    public var replica: PostgresDatabase?
    /// The tables.
    public var tables: [Table]
    /// How requests say who they come from; nil where no request has a user, and tokens are not looked at.
    public var authentication: Authentication?
    /// For how long the effects of requests with an id (`Repeatability-Request-ID`) are remembered, so that their
    /// repeats do nothing twice.
    public var requestIdsExpire: Duration
    /// How the tables are served as OData; nil where they are not.
    public var odata: OData? = OData()
    /// The policy of the plugins that are around requests to the tables; nil for none. `sluice serve` runs them, and a
    /// program that opens a ``Backend`` itself gives it hooks of its own instead.
    public var plugins: Plugins?
    /// How many requests each client may make; nil for any number.
    public var rateLimit: RateLimit?
    /// What listeners take of a client.
    public var limits = Limits()
    /// The address that `sluice serve` listens on; a program gives its ``BackendServer`` one.
    public var host = "127.0.0.1"
    /// Whether `sluice serve` answers `GET /metrics`.
    public var metrics = false
    /// The proxies whose word counts about scheme, host and path that clients use: links in answers are written by it.
    public var proxies = AddressRange.loopback

    /// A configuration.
    public init(
        database: Database = .memory, tables: [Table] = [], authentication: Authentication? = nil,
        requestIdsExpire: Duration = .seconds(86_400)
    ) {
        self.database = database
        self.tables = tables
        self.authentication = authentication
        self.requestIdsExpire = requestIdsExpire
    }

    /// Checks names, bounds and what rules refer to.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` or `invalidTable`.
    func validate() throws(SluiceError) {
        do {
            try check()
        } catch {
            throw error.error
        }
    }
}

extension BackendConfiguration {
    /// How requests say who they come from: by a JSON Web Token (RFC 7519) in the header `Authorization: Bearer` or
    /// `X-ZUMO-AUTH`. It is signed with a secret that the backend shares (HS256), or by an issuer whose public keys are in
    /// a file (RS256, ES256).
    ///
    /// ```swift
    /// var configuration = BackendConfiguration(tables: [.init("notes", access: .authenticated)])
    /// configuration.authentication = .init(secret: .variable("SLUICE_JWT_SECRET"))
    /// ```
    public struct Authentication: Sendable, Hashable {
        /// The secret of HS256: at least 32 bytes; nil where no such token is taken.
        public var secret: TokenSecret?
        /// The path of a JWK set (RFC 7517) with the public keys of RS256 and ES256; nil where no such token is taken. It
        /// is read again when it changes.
        public var keyFile: String?
        /// What a token's `iss` must be; nil for anything.
        public var issuer: String?
        /// What must be among a token's `aud`; nil for anything.
        public var audience: String?

        /// An authentication by a secret.
        public init(secret: TokenSecret, issuer: String? = nil, audience: String? = nil) {
            self.secret = secret
            self.issuer = issuer
            self.audience = audience
        }

        /// An authentication by public keys.
        public init(keyFile: String, issuer: String? = nil, audience: String? = nil) {
            self.keyFile = keyFile
            self.issuer = issuer
            self.audience = audience
        }
    }
}

extension BackendConfiguration {
    /// Reads a configuration file. Paths in it are relative to its directory.
    ///
    /// ```yaml
    /// database: sqlite:backend.db        # or sqlite::memory:, postgres://HOST/DATABASE, postgres:$VARIABLE
    /// auth: { secretVariable: SLUICE_JWT_SECRET }
    /// tables:
    ///   movies: { seed: movies.json, pageSize: 100, maxTop: 128000, softDelete: true }
    ///   notes: { perUser: owner, recordsExpire: 90d }
    /// ```
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` whose message begins with the file, line and column.
    public init(file path: String) throws(SluiceError) {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        self = try ConfigurationReader(directory: directory).configuration(ConfigurationFile(path: path))
    }

    /// Reads a configuration's text. `file` is the name that errors begin with, `directory` what paths are relative to.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` whose message begins with the file, line and column.
    public init(yaml text: String, file: String, directory: String) throws(SluiceError) {
        let source = ConfigurationFile(name: file, text: text)
        self = try ConfigurationReader(directory: directory).configuration(source)
    }
}

/// A key that tokens are signed with, or where it is. What is printed of it never shows the key.
public struct TokenSecret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    enum Source: Sendable, Hashable {
        case variable(String)
        case text(String)
    }

    let source: Source

    /// The text in the environment's variable of that name, read when the backend is opened.
    public static func variable(_ name: String) -> TokenSecret { TokenSecret(source: .variable(name)) }

    /// A key that the program has from elsewhere.
    public static func text(_ key: String) -> TokenSecret { TokenSecret(source: .text(key)) }

    /// Where the key is, never the key itself.
    public var description: String {
        switch source {
        case .variable(let name): "the secret in \(name)"
        case .text: "a secret"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror without children, so that `dump` shows no key either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension BackendConfiguration {
    /// Checks the tables' references: each leads from a column to a table, and no two things have one name.
    ///
    /// - Throws: ``ConfigurationMistake``.
    func checkReferences() throws(ConfigurationMistake) {
        var taken: [String: Set<String>] = [:]
        for table in tables {
            let columns = table.columns.map(\.name) + ["id"] + SystemColumn.all
            taken[table.name] = Set(columns.map { $0.text.lowercased() })
        }
        for (index, table) in tables.enumerated() {
            for reference in table.references {
                func mistake(_ reason: String) -> ConfigurationMistake {
                    ConfigurationMistake(
                        reason: "the reference \(reference.name) \(reason)", table: table.name, index: index,
                        key: "references")
                }
                guard let target = tables.first(where: { $0.name == reference.table }) else {
                    let hint = NearestKey.suggestion(for: reference.table, among: tables.map(\.name)) ?? ""
                    throw mistake("leads to the table \(reference.table), which is not configured\(hint)")
                }
                try check(reference, of: table, to: target, mistake)
                let names =
                    [(table.name, reference.name.text)] + (reference.inverse.map { [(target.name, $0.text)] } ?? [])
                for (owner, name) in names {
                    guard !name.isEmpty, taken[owner, default: []].insert(name.lowercased()).inserted else {
                        throw mistake("gives \(owner) the name \(name), which is there already, or empty")
                    }
                }
            }
        }
    }

    private func check(
        _ reference: Table.Reference, of table: Table, to target: Table,
        _ mistake: (String) -> ConfigurationMistake
    ) throws(ConfigurationMistake) {
        guard reference.column != "id", !SystemColumn.all.contains(reference.column) else {
            throw mistake("needs a column of the table's own, not \(reference.column)")
        }
        guard !table.columns.isEmpty else { return }
        guard let column = table.columns.first(where: { $0.name == reference.column }) else {
            let hint = NearestKey.suggestion(for: reference.column.text, among: table.columns.map(\.name.text)) ?? ""
            throw mistake("uses the column \(reference.column), which is not among the columns\(hint)")
        }
        guard column.type == .string || (column.type == .integer && target.ids == .integer) else {
            throw mistake(
                "holds ids of \(target.name), and the column \(reference.column) is of type \(column.type.rawValue)")
        }
    }
}

extension BackendConfiguration {
    /// The settings of the tables as OData, v4 below `/odata/v4/` and v2 below `/odata/v2/`.
    ///
    /// ```swift
    /// var odata = BackendConfiguration.OData(namespace: "Shop")
    /// odata.requiresIfMatch = true
    /// configuration.odata = odata
    /// ```
    public struct OData: Sendable, Hashable {
        /// The namespace of the types in `$metadata`: names with dots between them.
        public var namespace: String
        /// Whether a change of an entity needs `If-Match`; without it the answer is 428. Many clients never send it.
        public var requiresIfMatch: Bool
        /// Whether a change needs the token that a read with `X-CSRF-Token: Fetch` gives, and the cookie that came with
        /// it; without both the answer is 403 with `X-CSRF-Token: Required`. Use it where browsers send credentials by
        /// themselves.
        public var requiresCSRFToken: Bool
        /// The origins whose pages a browser lets use the service (CORS): `https://app.example`, or `*` for all, which then send
        /// no cookies.
        public var origins: [String] = []

        /// OData with those rules.
        public init(namespace: String = "Sluice", requiresIfMatch: Bool = false, requiresCSRFToken: Bool = false) {
            self.namespace = namespace
            self.requiresIfMatch = requiresIfMatch
            self.requiresCSRFToken = requiresCSRFToken
        }
    }
}

extension BackendConfiguration.Table {
    /// A reference of a table's records to those of another, which OData clients navigate by.
    ///
    /// ```swift
    /// orders.references = [.init("customer", column: "customerId", table: "customers", inverse: "orders")]
    /// ```
    public struct Reference: Sendable, Hashable {
        /// The name of the link from this table's records to the record they refer to.
        public var name: PropertyName
        /// The column that holds the id of the other record, or null.
        public var column: PropertyName
        /// The table of the other record.
        public var table: String
        /// The name of the list of referring records on the other record; nil where it has none.
        public var inverse: PropertyName?

        /// A reference.
        public init(_ name: PropertyName, column: PropertyName, table: String, inverse: PropertyName? = nil) {
            self.name = name
            self.column = column
            self.table = table
            self.inverse = inverse
        }
    }
}
