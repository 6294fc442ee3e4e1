internal import HTTPTypes
internal import SluiceCore
internal import SluiceLua

/// Compares the result of a call with a fixture's expectations. Each difference is a line with the place, the expected
/// value and the value found.
struct FixtureComparison {
    private(set) var differences: [String] = []

    private mutating func note(_ place: String, _ expected: String, _ found: String) {
        differences.append("\(place): expected \(expected), found \(found)")
    }

    /// Returns a value for a message: short, and without a line end.
    static func words(_ value: JSON?) -> String {
        guard let value else { return "nothing" }
        let text = value.description
        return text.utf8.count <= 300 ? text : String(text.prefix(300)) + "…"
    }

    // MARK: - values

    /// Compares whole values.
    mutating func whole(_ place: String, _ expected: JSON, _ found: JSON?) {
        if found == expected { return }
        // The first different part says more than two long texts.
        if expected.kind == .object, let found, found.kind == .object {
            for name in expected.names + found.names.filter({ expected[$0] == nil }) where expected[name] != found[name]
            {
                guard let value = expected[name] else {
                    note("\(place).\(name)", "nothing", Self.words(found[name]))
                    continue
                }
                whole("\(place).\(name)", value, found[name])
            }
            return
        }
        if let left = expected.elements, let right = found?.elements, left.count == right.count {
            for (index, value) in left.enumerated() { whole("\(place)[\(index + 1)]", value, right[index]) }
            return
        }
        note(place, Self.words(expected), Self.words(found))
    }

    /// Compares only the expected members of objects, and other values as a whole.
    mutating func named(_ place: String, _ expected: JSON, _ found: JSON?) {
        guard let members = expected.members else { return whole(place, expected, found) }
        guard let found, found.kind == .object else { return note(place, Self.words(expected), Self.words(found)) }
        for (name, value) in members {
            if value.isNull, found[name] == nil { continue }
            named("\(place).\(name)", value, found[name])
        }
    }

    // MARK: - parts

    mutating func decision(_ expected: JSON, _ found: JSON?) {
        if expected.isNull {
            if let found { note("decision", "none", Self.words(found)) }
            return
        }
        // A record is compared as a whole, and an expected one must be there.
        var rest = expected
        if let record = expected["record"], !record.isNull {
            whole("decision.record", record, found?["record"])
            rest["record"] = nil
        }
        named("decision", rest, found)
    }

    mutating func values(_ expected: JSON, _ found: [String: JSON]) {
        for (key, value) in expected.members ?? [] {
            let there = found[key.text].flatMap { $0["v"] }
            if value.isNull {
                if let there { note("kv \(key)", "nothing", Self.words(there)) }
            } else {
                named("kv \(key)", value, there)
            }
        }
    }

    mutating func log(_ expected: JSON, _ found: [PluginLogLine]) {
        let lines = expected.elements ?? []
        guard lines.count == found.count else {
            return note("log", lines.count.counted("line"), "\(found.count): \(found.map(\.message))")
        }
        for (index, line) in lines.enumerated() {
            let place = "log[\(index + 1)]"
            if line.kind == .string {
                whole("\(place).message", line, JSON(found[index].message))
                continue
            }
            var document: JSON = ["level": JSON(found[index].level), "message": JSON(found[index].message)]
            document["fields"] = found[index].fields
            named(place, line, document)
        }
    }

    mutating func request(_ place: String, _ expected: JSON, _ found: SyncRequest?) {
        guard let found else { return note(place, "a request", "none: it did not go on") }
        for (name, value) in expected.members ?? [] {
            switch name {
            case "method": whole("\(place).method", value, JSON(found.head.method.rawValue))
            case "url": whole("\(place).url", value, JSON(RequestDocument.url(of: found.head)))
            case "path": whole("\(place).path", value, JSON(found.head.path ?? ""))
            case "headers": headers(place, value, found.head.headerFields)
            default: body(place, value, found.body)
            }
        }
    }

    mutating func response(_ expected: JSON, _ found: SyncResponse?) {
        guard let found else { return note("response", "an answer", "none") }
        for (name, value) in expected.members ?? [] {
            switch name {
            case "status": whole("response.status", value, JSON(found.status))
            case "headers": headers("response", value, found.head.headerFields)
            default: body("response", value, found.body)
            }
        }
    }

    private mutating func headers(_ place: String, _ expected: JSON, _ found: HTTPFields) {
        for (name, value) in expected.members ?? [] {
            let there = HTTPField.Name(name.text).flatMap { found[$0] }.map { JSON($0) }
            if value.isNull, there == nil { continue }
            whole("\(place).headers.\(name)", value, there)
        }
    }

    private mutating func body(_ place: String, _ expected: JSON, _ found: MessageBody) {
        if expected.isNull {
            if !found.isEmpty { note("\(place).body", "nothing", found.bytes.count.counted("byte")) }
        } else if let text = expected.string {
            whole("\(place).body", JSON(text), JSON(String(decoding: found.bytes, as: UTF8.self)))
        } else if let json = try? found.json {
            whole("\(place).body", expected, json)
        } else {
            note(
                "\(place).body", Self.words(expected),
                "no JSON: \(String(decoding: found.bytes.prefix(100), as: UTF8.self))")
        }
    }
}
