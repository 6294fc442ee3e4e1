internal import SluiceCore

extension HostFunction {
    /// The functions of the query of an address.
    static let ofQueries = [
        HostFunction("query:get", fuel: 1) { .value(try QueryFunctions.value($0.arguments)) },
        HostFunction("query:set", fuel: 1) { .value(try QueryFunctions.setting($0.arguments)) },
        HostFunction("query:pairs", fuel: 1) { .value(try QueryFunctions.list($0.arguments)) },
    ]
}

/// The query of a request's address, by the decoded names of its parts.
enum QueryFunctions {
    /// The maximum length, longer than servers accept.
    static let maximumBytes = 64 << 10

    private static func query(_ arguments: HostArguments) throws -> QueryString {
        let text = try arguments.text(0)
        guard text.utf8.count <= maximumBytes else {
            throw ScriptFailure(.runtime, "the query has more than \(maximumBytes) bytes")
        }
        return QueryString(ofPath: "?\(text)")
    }

    static func value(_ arguments: HostArguments) throws -> JSON? {
        try query(arguments)[try arguments.text(1, "the name of a part")].map { JSON($0) }
    }

    /// Returns the query with a part set, or removed if the value is nil.
    static func setting(_ arguments: HostArguments) throws -> JSON {
        let name = try arguments.text(1, "a name and a value")
        guard !name.isEmpty else { throw ScriptFailure(.runtime, "query:set takes a name and a value") }
        var parts = try query(arguments).parts
        let value = arguments[2]?.kind == .bool ? arguments[2]?.description : try arguments.optionalText(2)
        let place = parts.firstIndex { QueryString.name(of: $0) == name } ?? parts.count
        parts.removeAll { QueryString.name(of: $0) == name }
        // The name is encoded first: so any name is one part, whatever its characters.
        if let value {
            parts.insert(
                "\(PercentEncoding.query(name))=\(PercentEncoding.query(value))", at: min(place, parts.count))
        }
        return JSON(parts.joined(separator: "&"))
    }

    static func list(_ arguments: HostArguments) throws -> JSON {
        JSON(
            try query(arguments).parts.map { part in
                let value = part.firstIndex(of: "=").map { PercentEncoding.decoded(part[part.index(after: $0)...]) }
                return JSON([JSON(QueryString.name(of: part)), JSON(value ?? "")])
            })
    }
}
