package import SluiceCore

/// The permissions of a plugin beyond the arguments of its hooks. It has none unless its manifest asks for them.
public struct PluginPermissions: Sendable, Hashable {
    /// The hosts that `http.request` may ask: `api.example.com`, `localhost:8080`, `*.example.com`, or the property of
    /// the configuration that holds the address: `{token_url}`.
    public var http: [String] = []
    /// The maximum size of `kv` in bytes; 0 for no store.
    public var kvBytes = 0
    /// The names of secrets for which `secrets.get` returns a handle.
    public var secrets: [String] = []
    /// Header fields with credentials that the script may read, in small letters.
    public var readHeaders: [String] = []
    /// The allowed changes beyond other header fields and the body of a request: `request.url`, `request.method`,
    /// `request.id`, `request.credentials`, `request.conditions`, `push.answer`.
    public var change: [String] = []
    /// Whether the script has `time.now`.
    public var clock = false
    /// Whether the script has `math.random`, `crypto.random` and `crypto.uuid`.
    public var random = false
    /// The tables of the local store that `store` reads (`r`, `rw`) and decisions may write to (`rw`), by name or
    /// pattern. If it is empty, decisions may write to every table that the plugin is asked about.
    public var tables: [String: TableAccess] = [:]

    /// The access of a plugin to a table.
    public enum TableAccess: String, Sendable, Hashable, CaseIterable {
        /// Read.
        case read = "r"
        /// Read and write.
        case readWrite = "rw"
    }

    /// Creates an empty set of permissions.
    public init() {}

    /// Refuses a change for which the plugin has no permission.
    ///
    /// - Throws: ``Denied``.
    func require(_ change: ChangePermission) throws {
        guard self.change.contains(change.rawValue) else {
            throw Denied("\(change.action) needs the permission change: \(change.rawValue)")
        }
    }

    /// Returns the plugin's access to a table; nil for none. A name takes precedence over patterns. Of several patterns
    /// the more restrictive one applies.
    func access(to table: String) -> TableAccess? {
        if let access = tables[table] { return access }
        let found = tables.filter { (try? Match(tables: [$0.key]))?.isFor(table: table) == true }.values
        return found.contains(.read) ? .read : found.first
    }
}

/// A refusal because a permission is missing.
struct Denied: Error {
    let message: String
    init(_ message: String) { self.message = message }
}

extension PluginPermissions {
    /// Each permission as a phrase, so that two plugins, or two versions of one, can be compared.
    package var words: Set<String> {
        var words: Set<String> = []
        for host in http { words.insert("ask \(host) by http") }
        if kvBytes > 0 { words.insert("keep \(kvBytes) bytes") }
        for name in secrets { words.insert("use the secret \(name)") }
        for name in readHeaders { words.insert("read the header field \(name)") }
        for change in change { words.insert("change \(change)") }
        if clock { words.insert("read the clock") }
        if random { words.insert("use chance") }
        for (table, access) in tables {
            words.insert("\(access == .read ? "read" : "read and write") the table \(table)")
        }
        return words
    }
}

/// A change that needs a permission of its own: with it a script could pretend to be the user, the application or the
/// server.
package enum ChangePermission: String, CaseIterable {
    /// The address of a request, and header fields that some servers read in its place.
    case url = "request.url"
    /// Its method, and header fields that some servers read in its place.
    case method = "request.method"
    /// The id in the body of a write.
    case id = "request.id"
    /// Header fields with credentials: `Authorization`, `Cookie`, `X-ZUMO-AUTH` and their like.
    case credentials = "request.credentials"
    /// Header fields with conditions: `If-Match`, `If-None-Match` and their like.
    case conditions = "request.conditions"
    /// The answer to a push: answering without the server, and rewriting the server's answer.
    case pushAnswer = "push.answer"

    /// The purpose of the permission, for a refusal.
    var action: String {
        switch self {
        case .url: "to change req.url, or a header field that a server may read for it,"
        case .method: "to change req.method, or a header field that a server may read for it,"
        case .id: "to change the id in the body of a write"
        case .credentials: "to change a header field with credentials"
        case .conditions: "to change a header field with a condition"
        case .pushAnswer: "to answer a push, or to rewrite its answer,"
        }
    }

    /// Header fields, in small letters, that only a plugin with the permission may set, change or remove.
    package static let fields: [(names: Set<String>, permission: ChangePermission)] = [
        (credentialFields, .credentials), (conditionFields, .conditions),
        (["x-http-method-override", "x-http-method", "x-method-override"], .method),
        (["x-original-url", "x-rewrite-url"], .url),
    ]
    /// Header fields with credentials, in small letters.
    static let credentialFields: Set<String> = [
        "authorization", "proxy-authorization", "x-zumo-auth", "x-zumo-application", "x-zumo-master", "x-api-key",
        "cookie", "set-cookie",
    ]
    /// Header fields with conditions, in small letters.
    private static let conditionFields: Set<String> = [
        "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range",
    ]
}

extension PluginPermissions {
    /// Reads permissions in the form of a manifest.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument`.
    package init(granted place: JSONPlace) throws(SluiceError) {
        self = try PermissionsReader.permissions(place, .none)
    }

    /// Returns each permission beyond the granted ones, as a phrase.
    package func excess(over granted: PluginPermissions) -> [String] {
        var (own, other) = (self, granted)
        // More room than needed grants the room.
        if own.kvBytes <= other.kvBytes { (own.kvBytes, other.kvBytes) = (0, 0) }
        for (table, access) in own.tables where other.tables[table] == .readWrite && access == .read {
            other.tables[table] = .read
        }
        return own.words.subtracting(other.words).sorted()
    }
}
