internal import Foundation
internal import SluiceConfiguration
internal import SluiceCore

/// Reads the parts of a configuration; errors name the place of a mistake.
struct ConfigurationReader {
    /// The directory to which paths are relative.
    let directory: String

    func configuration(_ file: ConfigurationFile) throws(SluiceError) -> BackendConfiguration {
        let root = try file.root().named("the configuration")
        let members = try root.members([
            "database", "replica", "auth", "tables", "requestIdsExpire", "odata", "plugins", "releases", "secrets",
            "rateLimit", "limits", "proxies", "host", "metrics", "fleet",
        ])
        guard let database = members["database"] else {
            throw root.refusal("the key database is missing, such as database: sqlite:backend.db")
        }
        guard let tables = members["tables"] else { throw root.refusal("the key tables is missing") }
        var configuration = BackendConfiguration(database: try self.database(database))
        if let replica = members["replica"] {
            guard case .postgres(let database) = try self.database(replica) else {
                throw replica.refusal("replica is a PostgreSQL database: postgres:$VARIABLE")
            }
            configuration.replica = database
        }
        if let auth = members["auth"] { configuration.authentication = try authentication(auth) }
        if let interval = members["requestIdsExpire"] {
            configuration.requestIdsExpire = try TableReader.interval(interval)
        }
        if let odata = members["odata"] { configuration.odata = try self.odata(odata) }
        if members["plugins"] != nil || members["releases"] != nil {
            func path(_ key: String) throws(SluiceError) -> String? {
                try members[key].map { node throws(SluiceError) in absolute(try node.text()) }
            }
            configuration.plugins = .init(
                policy: try path("plugins"), secrets: try path("secrets"), releases: try path("releases"))
        } else if let secrets = members["secrets"] {
            throw secrets.refusal("secrets are for plugins, and the keys plugins and releases are missing")
        }
        if let limit = members["rateLimit"], !limit.isNull { configuration.rateLimit = try rateLimit(limit) }
        if let limits = members["limits"] { configuration.limits = try self.limits(limits) }
        if let host = members["host"] { configuration.host = try host.text() }
        if let metrics = members["metrics"] { configuration.metrics = try metrics.flag() }
        if let fleet = members["fleet"] { configuration.fleet = try self.fleet(fleet) }
        if let proxies = members["proxies"] { configuration.proxies = try ranges(proxies) }
        let entries = try tables.entries()
        guard !entries.isEmpty else { throw tables.refusal("tables is a mapping of names to their rules") }
        for entry in entries { configuration.tables.append(try TableReader(self, entry.name, entry.value).table()) }
        do {
            try configuration.check()
        } catch {
            guard let index = error.index else { throw (members[error.key ?? "auth"] ?? root).refusal(error.reason) }
            let entry = entries[index]
            let value = entry.value.isMapping ? try entry.value.entries().first { $0.name == error.key }?.value : nil
            throw (value ?? entry.value.key).refusal(error.reason, table: error.table)
        }
        return configuration
    }

    private func database(_ node: ConfigurationNode) throws(SluiceError) -> BackendConfiguration.Database {
        let database: BackendConfiguration.Database
        do {
            database = try .init(try node.text())
        } catch {
            throw node.refusal(error.message)
        }
        guard case .sqlite(let path) = database else { return database }
        return .sqlite(path: absolute(path))
    }

    /// Reads `off`, or a mapping of the differences from the defaults.
    private func odata(_ node: ConfigurationNode) throws(SluiceError) -> BackendConfiguration.OData? {
        var odata = BackendConfiguration.OData()
        guard node.isMapping else { return try node.flag() ? odata : nil }
        let members = try node.members(["namespace", "requireIfMatch", "requireCSRFToken", "origins"])
        if let value = members["namespace"] { odata.namespace = try value.text() }
        if let value = members["requireIfMatch"] { odata.requiresIfMatch = try value.flag() }
        if let value = members["requireCSRFToken"] { odata.requiresCSRFToken = try value.flag() }
        if let value = members["origins"] {
            odata.origins = try value.lists().flatMap(\.self)
        }
        return odata
    }

    private func authentication(
        _ node: ConfigurationNode
    ) throws(SluiceError) -> BackendConfiguration.Authentication {
        let members = try node.members(["secretVariable", "jwks", "issuer", "audience"])
        let (issuer, audience) = (try members["issuer"]?.text(), try members["audience"]?.text())
        let file = try members["jwks"].map { (node) throws(SluiceError) in absolute(try node.text()) }
        if let variable = members["secretVariable"] {
            var authentication = BackendConfiguration.Authentication(
                secret: .variable(try variable.text()), issuer: issuer, audience: audience)
            authentication.keyFile = file
            return authentication
        }
        guard let file else {
            throw node.refusal(
                "the key secretVariable is missing: the variable of the environment that holds the secret, such as "
                    + "SLUICE_JWT_SECRET; or jwks, a file with public keys")
        }
        return .init(keyFile: file, issuer: issuer, audience: audience)
    }

    private func ranges(_ node: ConfigurationNode) throws(SluiceError) -> [AddressRange] {
        var ranges: [AddressRange] = []
        for text in try node.lists().joined() {
            guard let range = AddressRange(text) else {
                throw node.refusal("proxies are addresses or networks, such as [10.0.0.0/8, \"::1\"], not \(text)")
            }
            ranges.append(range)
        }
        return ranges
    }

    func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : URL(fileURLWithPath: directory).appendingPathComponent(path).path
    }
}
