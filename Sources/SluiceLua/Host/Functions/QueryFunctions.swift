internal import SluiceCore

/// The query of a request's address, by the decoded names of its parts.
enum QueryFunctions {
    private static func query(_ arguments: JSON) -> QueryString {
        QueryString(ofPath: "?\(arguments[0]?.string ?? "")")
    }

    static func value(_ arguments: JSON) -> JSON? {
        arguments[1]?.string.flatMap { query(arguments)[$0] }.map { JSON($0) }
    }

    /// The query with a part set, or taken out where the value is nil.
    static func setting(_ arguments: JSON) throws -> JSON {
        guard let name = arguments[1]?.string, !name.isEmpty else {
            throw ScriptFailure(.runtime, "query:set takes a name and a value")
        }
        var query = query(arguments)
        let value = arguments[2].flatMap { $0.isNull ? nil : $0 }
        // The name is encoded as it goes in: what is set is one part, whatever is in it.
        if let value, query[name] == nil {
            let text = "\(PercentEncoding.query(name))=\(PercentEncoding.query(value.string ?? value.description))"
            return JSON((query.parts + [text]).joined(separator: "&"))
        }
        query[name] = value.map { $0.string ?? $0.description }
        return JSON(query.parts.joined(separator: "&"))
    }

    static func list(_ arguments: JSON) -> JSON {
        JSON(
            query(arguments).parts.map { part in
                let value = part.firstIndex(of: "=").map { PercentEncoding.decoded(part[part.index(after: $0)...]) }
                return JSON([JSON(QueryString.name(of: part)), JSON(value ?? "")])
            })
    }
}
