package import SluiceCore

/// The effective configuration as text and as JSON: each value with its origin; of a secret the origin only.
package enum SettingsExplanation {
    /// One value.
    package struct Line: Sendable, Hashable, JSONPrinted {
        package var key: String
        /// Nil for a secret, and for a setting without a value.
        package var value: String?
        package var origin: String
        package var about: String
    }

    /// The values of each endpoint, then the daemon's.
    package static func lines(_ settings: Settings) -> [Line] {
        var lines: [Line] = []
        for endpoint in settings.endpoints {
            for setting in Setting.all where setting.scope == .endpoint {
                let prefix = endpoint.isEmpty ? "" : "endpoints.\(endpoint)."
                lines.append(line(setting, settings.value(setting.key, of: endpoint), prefix: prefix))
            }
        }
        for setting in Setting.all where setting.scope == .daemon {
            lines.append(line(setting, settings.value(setting.key), prefix: ""))
        }
        return lines
    }

    private static func line(_ setting: Setting, _ value: Settings.Value?, prefix: String) -> Line {
        Line(
            key: prefix + setting.key, value: setting.isSecret ? nil : value?.text,
            origin: value?.origin.description ?? "not given", about: setting.about)
    }
}

/// The JSON Schema of the configuration file, from which editors complete and check it.
package enum SettingsSchema {
    /// Draft 2020-12.
    package static var json: JSON {
        var root = object(Setting.all)
        root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
        root["title"] = "The configuration of sluice"
        var properties = root["properties"] ?? .object
        properties["endpoints"] = [
            "type": "object", "description": "Several endpoints, by name, each with a store of its own.",
            "minProperties": 1, "propertyNames": ["pattern": "^[A-Za-z0-9-]{1,64}$"],
            "additionalProperties": object(Setting.all.filter { $0.scope == .endpoint }),
        ]
        root["properties"] = properties
        return root
    }

    private static func object(_ settings: [Setting]) -> JSON {
        var properties = JSON.object
        let visible = settings.filter { !$0.isSecret }
        for setting in visible where setting.group == nil { properties[setting.key] = schema(setting) }
        for group in Set(visible.compactMap(\.group)).sorted() {
            var members = JSON.object
            for setting in visible where setting.group == group { members[setting.name] = schema(setting) }
            properties[group] = ["type": "object", "properties": members, "additionalProperties": false]
        }
        properties["tables"] = tables
        properties["queries"] = [
            "type": "object", "description": "What is pulled, by a name for each; a whole table needs none.",
            "additionalProperties": [
                "type": "object", "required": ["table"], "additionalProperties": false,
                "properties": ["table": ["type": "string"], "filter": ["type": "string"]],
            ],
        ]
        properties["migrations"] = [
            "type": "object", "description": "Changes of shape, done once in each store, by name.",
            "additionalProperties": ["type": "array", "items": ["type": "object"]],
        ]
        return ["type": "object", "properties": properties, "additionalProperties": false]
    }

    private static func schema(_ setting: Setting) -> JSON {
        var json = setting.form.schema
        json["description"] = JSON(setting.about)
        if let fallback = setting.fallback { json["default"] = value(fallback, setting.form) }
        return json
    }

    private static func value(_ text: String, _ form: SettingForm) -> JSON {
        switch form {
        case .integer: Int(text).map { JSON($0) } ?? JSON(text)
        case .flag: JSON(text == "true")
        default: JSON(text)
        }
    }

    private static var tables: JSON {
        let types = JSON(TableSchema.ColumnType.allCases.map { JSON($0.rawValue) })
        let column: JSON = ["type": "object", "additionalProperties": ["type": "string", "enum": types]]
        return [
            "type": "object", "description": "The tables, with their declared columns.",
            "additionalProperties": [
                "type": ["object", "null"], "additionalProperties": false,
                "properties": [
                    "columns": column, "indexes": ["type": "array"], "odata": ["type": "object"],
                    "local": [
                        "description": "Columns that stay on this machine; or true: the whole table does.",
                        "anyOf": [["type": "boolean"], ["type": "array", "items": ["type": "string"]]],
                    ],
                    "references": [
                        "type": "object", "description": "Columns with ids of other tables, and those tables.",
                        "additionalProperties": ["type": "string"],
                    ],
                ],
            ],
        ]
    }
}

/// The settings as a table of the documentation.
package enum SettingsTable {
    /// Markdown: a row for each setting, the endpoints' first.
    package static var markdown: String {
        let lines = [Setting.Scope.endpoint, .daemon].flatMap { scope in
            Setting.all.filter { $0.scope == scope }.map { setting in
                let value = setting.fallback.map { "`\($0)`" } ?? ""
                let name = setting.isSecret ? "(`\(setting.variable)`)" : "`\(setting.key)`"
                let allowed = setting.form.allowed.replacing(SettingForm.times, with: "")
                return "| \(name) | \(allowed) | \(value) | \(setting.about) |"
            }
        }
        return (["| key | value | default | |", "|---|---|---|---|"] + lines).joined(separator: "\n")
    }
}
