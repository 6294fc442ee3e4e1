internal import SluiceCore
internal import SluiceLua

/// Which permissions a plugin's texts make use of, as far as that can be read from them.
struct PermissionUse {
    /// What needs a permission, by the permission's name in the manifest.
    private static let needs: [(permission: String, path: [String])] = [
        ("http", ["http"]), ("kv", ["kv"]), ("secrets", ["secrets"]), ("tables", ["store"]),
        ("clock", ["time", "now"]), ("random", ["crypto", "uuid"]), ("random", ["crypto", "random"]),
        ("random", ["math", "random"]),
    ]
    /// What of a request is changed by writing to it, by the permission.
    private static let changes = [
        "request.url": ["url", "scheme", "host", "path"], "request.method": ["method"],
    ]

    /// Where each permission is used first; a place without a line is one that cannot be told.
    private(set) var used: [String: (file: String, use: LuaOutline.Use)] = [:]
    /// Where a request's address, its method or one of its header fields is written, by the permission.
    private(set) var written: [String: (file: String, use: LuaOutline.Use)] = [:]
    /// Where a request is answered first.
    private(set) var responds: (file: String, use: LuaOutline.Use)?
    /// The names of secrets that are written out.
    private(set) var secrets: [(name: String, file: String, line: Int)] = []

    /// Whether the use of a permission to change something can be read from a text.
    static func isSeen(_ change: String) -> Bool { changes[change] != nil }

    mutating func add(_ outline: LuaOutline, of file: String) {
        for use in outline.uses {
            for (permission, path) in Self.needs where used[permission] == nil {
                // A module that is passed on whole may be used for anything; of math that says little.
                let isWhole = use.path.count == 1 && path[0] == use.path[0] && path[0] != "math"
                if use.path.starts(with: path) || isWhole { used[permission] = (file, use) }
            }
            if responds == nil, use.path == ["decide", "respond"] { responds = (file, use) }
            if ["get", "find"].contains(use.path.last), use.path.first == "secrets", use.path.count == 2,
                let name = use.argument
            {
                secrets.append((name, file, use.line))
            }
        }
        for use in outline.writes where use.path.count == 2 {
            for (permission, names) in Self.changes where written[permission] == nil && names.contains(use.path[1]) {
                written[permission] = (file, use)
            }
        }
        for use in outline.calls where use.path.count == 3 && use.path[1] == "headers" {
            guard ["set", "add", "remove"].contains(use.path[2]), let name = use.argument?.lowercased() else {
                continue
            }
            for (names, permission) in ChangePermission.fields
            where names.contains(name) && written[permission.rawValue] == nil {
                written[permission.rawValue] = (file, use)
            }
        }
    }

    /// The permissions that the manifest gives.
    static func declared(_ permissions: PluginPermissions) -> Set<String> {
        var names: Set<String> = []
        if !permissions.http.isEmpty { names.insert("http") }
        if permissions.kvBytes > 0 { names.insert("kv") }
        if !permissions.secrets.isEmpty { names.insert("secrets") }
        if !permissions.tables.isEmpty { names.insert("tables") }
        if permissions.clock { names.insert("clock") }
        if permissions.random { names.insert("random") }
        return names
    }
}
