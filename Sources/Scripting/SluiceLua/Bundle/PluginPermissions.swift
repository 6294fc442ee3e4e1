internal import SluiceCore

/// What a plugin may reach beside what its hooks are given. Nothing, unless its manifest says so.
public struct PluginPermissions: Sendable, Hashable {
    /// The hosts that `http.request` may ask: `api.example.com`, `localhost:8080`, `*.example.com`, or the property of
    /// the configuration that has the address: `{token_url}`.
    public var http: [String] = []
    /// How many bytes `kv` may hold; 0 for no store.
    public var kvBytes = 0
    /// The names of secrets that `secrets.get` gives a handle to.
    public var secrets: [String] = []
    /// Header fields with credentials that the script may read, in small letters.
    public var readHeaders: [String] = []
    /// What it may change beside the other header fields and the body of a request: `request.url`, `request.method`,
    /// `request.id`, `request.credentials`, `request.conditions`, `push.answer`.
    public var change: [String] = []
    /// Whether `time.now` is there.
    public var clock = false
    /// Whether `math.random`, `crypto.random` and `crypto.uuid` are there.
    public var random = false
    /// Which tables of the local store `store` reads (`r`, `rw`) and decisions may write to (`rw`), by name or pattern.
    /// Where none is named, decisions may write to every table that the plugin is asked about.
    public var tables: [String: TableAccess] = [:]

    /// What a plugin may do with tables.
    public enum TableAccess: String, Sendable, Hashable, CaseIterable {
        /// Read.
        case read = "r"
        /// Read and write.
        case readWrite = "rw"
    }

    /// No permission.
    public init() {}

    /// Refuses a change that the plugin may not make.
    ///
    /// - Throws: ``Denied``.
    func require(_ change: ChangePermission) throws {
        guard self.change.contains(change.rawValue) else {
            throw Denied("\(change.action) needs the permission change: \(change.rawValue)")
        }
    }

    /// What the plugin may do with a table; nil for nothing. A name goes before patterns, and of several patterns the
    /// one that allows less.
    func access(to table: String) -> TableAccess? {
        if let access = tables[table] { return access }
        let found = tables.filter { (try? Match(tables: [$0.key]))?.isFor(table: table) == true }.values
        return found.contains(.read) ? .read : found.first
    }
}

/// A refusal for want of a permission.
struct Denied: Error {
    let message: String
    init(_ message: String) { self.message = message }
}

extension PluginPermissions {
    /// Each permission in words, so that two plugins, or two versions of one, can be compared.
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
