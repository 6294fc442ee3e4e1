internal import Foundation
internal import SluiceConfiguration
public import SluiceCore

/// The configuration of a backend: its database, its tables and their rules.
///
/// ```swift
/// let configuration = BackendConfiguration(database: .memory, tables: [.init("todos")])
/// ```
public struct BackendConfiguration: Sendable, Hashable {
    /// The database of the records.
    public enum Database: Sendable, Hashable {
        /// A SQLite file. A missing file is created, a missing directory is not.
        case sqlite(path: String)
        /// A database in memory, for as long as the backend is open.
        case memory
        /// A PostgreSQL database, which other backends may serve at the same time.
        case postgres(PostgresDatabase)
    }

    /// The plugins of an operator.
    public struct Plugins: Sendable, Hashable {
        /// The policy's file; nil for none.
        public var policy: String?
        /// The folder with the plugins' secrets, a file for each; nil for none.
        public var secrets: String?
        /// The file whose section `policy` says where signed releases come from; nil for none. A release takes the place
        /// of the policy's file.
        public var releases: String?

        /// The plugins of a policy, of releases, or of both.
        public init(policy: String? = nil, secrets: String? = nil, releases: String? = nil) {
            self.policy = policy
            self.secrets = secrets
            self.releases = releases
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

    /// The database of the records.
    public var database: Database
    /// A streaming replica of a PostgreSQL database, which answers reads while it is up to date; nil if the database
    /// answers all.
    public var replica: PostgresDatabase?
    /// The tables.
    public var tables: [Table]
    /// The authentication of requests; nil if no request has a user and tokens are ignored.
    public var authentication: Authentication?
    /// The time for which the effects of requests with an id (`Repeatability-Request-ID`) are remembered, so that a
    /// repeat has no second effect.
    public var requestIdsExpire: Duration
    /// The OData settings of the tables; nil if they are not served as OData.
    public var odata: OData? = OData()
    /// The policy of the plugins on requests to the tables; nil for none. Only `sluice serve` runs them; a program that
    /// opens a ``Backend`` passes hooks instead.
    public var plugins: Plugins?
    /// The rate limit of each client; nil for none.
    public var rateLimit: RateLimit?
    /// The limits of listeners on their clients.
    public var limits = Limits()
    /// The address that `sluice serve` listens on; a program passes one to its ``BackendServer``.
    public var host = "127.0.0.1"
    /// Whether `sluice serve` answers `GET /metrics`.
    public var metrics = false
    /// The page of the devices that report to a table; nil for none. Only `sluice serve` serves it.
    public var fleet: Fleet?
    /// The trusted proxies. Their headers give the clients' scheme, host and path for the links in answers.
    public var proxies = AddressRange.loopback

    /// Creates a configuration.
    public init(
        database: Database = .memory, tables: [Table] = [], authentication: Authentication? = nil,
        requestIdsExpire: Duration = .seconds(86_400)
    ) {
        self.database = database
        self.tables = tables
        self.authentication = authentication
        self.requestIdsExpire = requestIdsExpire
    }

    /// Checks names, bounds and references.
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
    /// The authentication of requests by a JSON Web Token (RFC 7519) in the header `Authorization: Bearer` or
    /// `X-ZUMO-AUTH`. The token is signed with a shared secret (HS256), or by an issuer with public keys in a file
    /// (RS256, ES256).
    ///
    /// ```swift
    /// var configuration = BackendConfiguration(tables: [.init("notes", access: .authenticated)])
    /// configuration.authentication = .init(secret: .variable("SLUICE_JWT_SECRET"))
    /// ```
    public struct Authentication: Sendable, Hashable {
        /// The secret of HS256: at least 32 bytes; nil if no such token is accepted.
        public var secret: TokenSecret?
        /// The path of a JWK set (RFC 7517) with the public keys of RS256 and ES256; nil if no such token is accepted.
        /// The file is read again when it changes.
        public var keyFile: String?
        /// The required `iss` of a token; nil for any.
        public var issuer: String?
        /// The required member of a token's `aud`; nil for any.
        public var audience: String?

        /// Creates an authentication by a secret.
        public init(secret: TokenSecret, issuer: String? = nil, audience: String? = nil) {
            self.secret = secret
            self.issuer = issuer
            self.audience = audience
        }

        /// Creates an authentication by public keys.
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
    /// - Throws: ``SluiceError`` of code `invalidArgument`; its message begins with the file, line and column.
    public init(file path: String) throws(SluiceError) {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        self = try ConfigurationReader(directory: directory).configuration(ConfigurationFile(path: path))
    }

    /// Reads a configuration's text. Errors begin with the name `file`, and paths are relative to `directory`.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument`; its message begins with the file, line and column.
    public init(yaml text: String, file: String, directory: String) throws(SluiceError) {
        let source = ConfigurationFile(name: file, text: text)
        self = try ConfigurationReader(directory: directory).configuration(source)
    }
}

/// The key for the signatures of tokens, or its location. The printed form never shows the key.
public struct TokenSecret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    enum Source: Sendable, Hashable {
        case variable(String)
        case text(String)
    }

    let source: Source

    /// Names an environment variable with the key, read when the backend is opened.
    public static func variable(_ name: String) -> TokenSecret { TokenSecret(source: .variable(name)) }

    /// Wraps a key that the program has read itself.
    public static func text(_ key: String) -> TokenSecret { TokenSecret(source: .text(key)) }

    /// The location of the key, never the key itself.
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
    /// Checks the tables' references: each leads from a column to a table, and all names are distinct.
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
        /// Whether a change needs the token of a read with `X-CSRF-Token: Fetch`, and its cookie; without both the
        /// answer is 403 with `X-CSRF-Token: Required`. Use it if browsers send credentials automatically.
        public var requiresCSRFToken: Bool
        /// The origins allowed to use the service from a browser (CORS): `https://app.example`, or `*` for all, then
        /// without cookies.
        public var origins: [String] = []

        /// Creates OData settings.
        public init(namespace: String = "Sluice", requiresIfMatch: Bool = false, requiresCSRFToken: Bool = false) {
            self.namespace = namespace
            self.requiresIfMatch = requiresIfMatch
            self.requiresCSRFToken = requiresCSRFToken
        }
    }
}

extension BackendConfiguration.Table {
    /// A reference of a table's records to another table's, for navigation by OData clients.
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
        /// The name of the list of referring records on the other record; nil for none.
        public var inverse: PropertyName?

        /// Creates a reference.
        public init(_ name: PropertyName, column: PropertyName, table: String, inverse: PropertyName? = nil) {
            self.name = name
            self.column = column
            self.table = table
            self.inverse = inverse
        }
    }
}
