internal import SluiceCore
internal import SluiceLua

/// The permissions that a plugin's sources use, as far as the text shows it.
struct PermissionUse {
    /// The globals that need a permission, with its name in the manifest.
    private static let needs = HostModule.all.flatMap { module in
        let ofModule = module.permission.map { [(permission: $0.rawValue, path: [module.name])] } ?? []
        return ofModule
            + module.members.compactMap { member in
                member.permission.map { (permission: $0.rawValue, path: [module.name, member.name]) }
            }
    }
    /// The fields of a request that need a permission to be written.
    private static let changes = [
        "request.url": ["url", "scheme", "host", "path"], "request.method": ["method"],
    ]

    /// The first use of each permission.
    private(set) var used: [String: (file: String, use: LuaOutline.Use)] = [:]
    /// The first write to a request's address, method or header fields, by the permission.
    private(set) var written: [String: (file: String, use: LuaOutline.Use)] = [:]
    /// The first answer to a request.
    private(set) var responds: (file: String, use: LuaOutline.Use)?
    /// The names of secrets that are written as literals.
    private(set) var secrets: [(name: String, file: String, line: Int)] = []

    /// Whether a text shows the use of a permission to change something.
    static func isSeen(_ change: String) -> Bool { changes[change] != nil }

    mutating func add(_ outline: LuaOutline, of file: String) {
        for use in outline.uses {
            for (permission, path) in Self.needs where used[permission] == nil {
                // A module passed on as a whole may be used for anything; for math that means little.
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

    /// Returns the permissions that the manifest declares.
    static func declared(_ permissions: PluginPermissions) -> Set<String> {
        Set(HostPermission.allCases.filter { $0.isGranted(by: permissions) }.map(\.rawValue))
    }
}
