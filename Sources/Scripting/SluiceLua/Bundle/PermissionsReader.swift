internal import SluiceCore

/// Reads the permissions that a manifest asks for.
struct PermissionsReader {
    private let members: [String: JSONPlace]
    private let schema: ConfigSchema

    private init(_ place: JSONPlace, _ schema: ConfigSchema) throws(SluiceError) {
        self.schema = schema
        members = try place.members([
            "http", "kv", "secrets", "read_headers", "change", "clock", "random", "tables",
        ])
    }

    static func permissions(_ place: JSONPlace, _ schema: ConfigSchema) throws(SluiceError) -> PluginPermissions {
        try PermissionsReader(place, schema).permissions()
    }

    private func permissions() throws(SluiceError) -> PluginPermissions {
        var permissions = PluginPermissions()
        let addresses = schema.addressNames.map { "{\($0)}" }
        permissions.http = try list("http", Self.hosts) {
            if addresses.contains($0) { return $0 }
            return Self.isHost($0) ? $0.lowercased() : nil
        }
        if let kv = members["kv"] {
            guard kv.value.kind == .object else {
                throw kv.expected("an object with the room that it needs, such as {\"bytes\": 4096}")
            }
            let members = try kv.members(["bytes"])
            guard let bytes = members["bytes"] else { throw kv.refusal("expected a member bytes, found none") }
            permissions.kvBytes = try bytes.integer(in: 1...(1 << 20))
        }
        permissions.secrets = try list("secrets", ConfigFormat.secret.expectation) {
            ConfigFormat.isSecretName($0) ? $0 : nil
        }
        permissions.readHeaders = try list("read_headers", "the name of a header field") {
            Self.isFieldName($0) ? $0.lowercased() : nil
        }
        for place in try members["change"]?.items(upTo: 8) ?? [] {
            permissions.change.append(try place.choice(of: ChangePermission.allCases.map(\.rawValue)))
        }
        permissions.clock = try members["clock"]?.flag() ?? false
        permissions.random = try members["random"]?.flag() ?? false
        for (name, place) in try members["tables"]?.entries(upTo: Match.maximumValues) ?? [] {
            // The pattern follows the rules of a match.
            do throws(SluiceError) {
                _ = try Match(tables: [name])
            } catch {
                throw place.refusal("expected the name of a table or a pattern as the member's name")
            }
            let access = try place.choice(of: PluginPermissions.TableAccess.allCases.map(\.rawValue))
            permissions.tables[name] = PluginPermissions.TableAccess(rawValue: access)
        }
        return permissions
    }

    private func list(
        _ name: String, _ expectation: String, _ read: (String) -> String?
    ) throws(SluiceError) -> [String] {
        var texts: [String] = []
        for place in try members[name]?.items(upTo: 64) ?? [] {
            guard let text = place.value.string.flatMap(read) else { throw place.expected(expectation) }
            texts.append(text)
        }
        return texts
    }

    private static let hosts =
        "a host such as \"api.example.com\" or \"*.example.com\", or \"{name}\" for a property of config_schema whose "
        + "format is uri"

    private static func isHost(_ text: String) -> Bool {
        var host = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
        if let colon = host.firstIndex(of: ":") {
            let port = host[colon...].dropFirst()
            guard port.utf8.count <= 5, let number = UInt16(port), number > 0, port.first != "+" else { return false }
            host = host[..<colon]
        }
        return text.utf8.count <= 253 && !host.isEmpty && !host.hasPrefix(".") && !host.hasSuffix(".")
            && !host.contains("..")
            && host.unicodeScalars.allSatisfy {
                $0.isASCII && $0 != "_" && (ScalarRanges.word.contains($0.value) || $0 == "-" || $0 == ".")
            }
    }

    /// Whether the text is a token of RFC 9110, section 5.6.2.
    private static func isFieldName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 128
            && text.unicodeScalars.allSatisfy {
                $0.isASCII
                    && (ScalarRanges.word.contains($0.value) || "!#$%&'*+-.^`|~".unicodeScalars.contains($0))
            }
    }
}
