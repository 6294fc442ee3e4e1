// The names are those of the header, which documents each function.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation

public import CSluice
internal import SluiceCore

@c @implementation
public func sluice_push(
    _ context: sluice_context, _ options: UnsafePointer<CChar>?, _ length: Int,
    _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        let open = try OpenContext.find(context, .waiting)
        let options = try Input.optionalJSON(options, length, "options") ?? .object
        let members = try JSONPlace(options, in: "options").members(["tables"])
        let tables = try members["tables"]?.items(upTo: 1_000).map { try $0.text() }
        let result = try open.call { try await $0.sync.push(tables: tables.map { Set($0) }) }
        guard result.end != .completed else { return result.json }
        var failure =
            result.error.map { Failure($0) } ?? Failure(SLUICE_ERROR_OTHER, "the push ended early: \(result.end)")
        failure.details["push"] = result.json
        throw failure
    }
}

@c @implementation
public func sluice_pull(
    _ context: sluice_context, _ table: UnsafePointer<CChar>?, _ options: UnsafePointer<CChar>?, _ length: Int,
    _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        let open = try OpenContext.find(context, .waiting)
        let document = try QueryDocument(
            try Input.optionalJSON(options, length, "options"), try Input.name(table, "table"), "options",
            parts: ["filter", "orderby", "top", "skip"], others: ["named", "allowsMassRemoval"])
        let (name, removes) = try (document.name, document.flag("allowsMassRemoval"))
        let query = document.query
        return try open.call {
            try await $0.sync.pull(query, named: name, allowsMassRemoval: removes).json(table: query.table)
        }
    }
}

@c @implementation
public func sluice_reconcile(
    _ context: sluice_context, _ table: UnsafePointer<CChar>?, _ options: UnsafePointer<CChar>?, _ length: Int,
    _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        let open = try OpenContext.find(context, .waiting)
        let document = try QueryDocument(
            try Input.optionalJSON(options, length, "options"), try Input.name(table, "table"), "options",
            parts: ["filter"], others: ["named", "allowsMassRemoval"])
        let removes = try document.flag("allowsMassRemoval")
        guard let name = try document.name else {
            throw SluiceError(.invalidArgument, "a reconcile is of a query with a name: \"named\"")
        }
        let query = document.query
        return try open.call {
            try await $0.sync.reconcile(query, named: name, allowsMassRemoval: removes).json(table: query.table)
        }
    }
}

@c @implementation
public func sluice_purge(
    _ context: sluice_context, _ table: UnsafePointer<CChar>?, _ options: UnsafePointer<CChar>?, _ length: Int,
    _ out: UnsafeMutablePointer<sluice_text>?
) -> Int32 {
    Reply.to(out) {
        let open = try OpenContext.find(context, .waiting)
        let document = try QueryDocument(
            try Input.optionalJSON(options, length, "options"), try Input.name(table, "table"), "options",
            parts: ["filter"], others: ["named", "force"])
        let (query, name, force) = try (document.query, document.name, document.flag("force"))
        let removed = try open.call { try await $0.sync.purge(query, named: name, force: force) }
        return ["removed": JSON(removed)]
    }
}

@c @implementation
public func sluice_status(_ context: sluice_context, _ out: UnsafeMutablePointer<sluice_text>?) -> Int32 {
    Reply.to(out) { try OpenContext.find(context, .local).call { try await $0.sync.status().json } }
}

extension QueryDocument {
    /// The name under which the query is pulled.
    fileprivate var name: String? { get throws { try others["named"]?.text() } }

    /// Whether a member is true.
    fileprivate func flag(_ name: String) throws -> Bool { try others[name]?.flag() ?? false }
}
