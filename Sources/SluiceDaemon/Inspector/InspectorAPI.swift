internal import Sluice

/// The views and actions of the inspector by their names. Every value of a record goes to the page as text: a number of
/// JSON may be larger than those of JavaScript, and must not change on its way through a page.
struct InspectorAPI: Sendable {
    let daemon: any Inspected
    let inspection: Inspection

    /// A view; nil where there is none of that name.
    func view(_ name: String, _ request: LocalRequest) async throws -> JSON? {
        switch name {
        case "status":
            var status = await daemon.status()
            status["readOnly"] = JSON(inspection.isReadOnly)
            return status
        case "timeline":
            return inspection.timeline.json(after: request.parameter("after").flatMap { Int($0) } ?? 0)
        case "figures": return inspection.figures.json
        default: break
        }
        let endpoint = try await endpoint(request.parameter("endpoint"))
        func needed(_ name: String) throws -> String {
            guard let value = request.parameter(name), !value.isEmpty else {
                throw SluiceError(.invalidArgument, "the parameter \(name) is missing")
            }
            return value
        }
        switch name {
        case "tables": return try await TablesView(endpoint).tables()
        case "rows":
            return try await TablesView(endpoint).rows(
                of: needed("table"), filter: request.parameter("filter"),
                skip: request.parameter("skip").flatMap { Int($0) } ?? 0)
        case "row":
            return try await TablesView(endpoint).row(
                RecordID(needed("id")), in: needed("table"), asksServer: request.parameter("ask") == "true")
        case "queue":
            return try await QueueView(endpoint).queue(
                skip: request.parameter("skip").flatMap { Int($0) } ?? 0)
        case "queue/operation": return try await QueueView(endpoint).operation(needed("id"))
        case "conflicts": return try await ConflictView(endpoint).conflicts()
        case "plugins": return try await PluginsView(endpoint).plugins()
        case "plugins/source": return try PluginsView(endpoint).source(of: needed("plugin"))
        default: return nil
        }
    }

    /// Does something; nil where there is no such action.
    func act(_ name: String, _ body: JSON) async throws -> JSON? {
        let endpoint = try await endpoint(body["endpoint"]?.string)
        if name == "plugins/try" { return try await PluginTrial(endpoint).run(body) }
        guard !inspection.isReadOnly else {
            throw SluiceError(.operationRefused, "the inspector changes nothing: inspector.read-only is true")
        }
        switch name {
        case "daemon/sync": return try await daemon.sync(endpoint.name)
        case "daemon/reload":
            try await daemon.reload()
            return .object
        case "daemon/pause", "daemon/resume":
            await daemon.pause(name == "daemon/pause")
            return .object
        case "queue/retry", "queue/retry-all", "queue/discard", "queue/edit", "queue/undo", "conflicts/resolve":
            let done =
                name == "conflicts/resolve"
                ? try await ConflictView(endpoint).resolve(body)
                : try await QueueView(endpoint).act(name, body)
            // What is to be sent now is sent soon, as after any other change.
            endpoint.changed()
            return done
        default: return nil
        }
    }

    private func endpoint(_ name: String?) async throws -> InspectedEndpoint {
        let endpoints = await daemon.endpoints
        guard let found = name.map({ name in endpoints.first { $0.name == name } }) ?? endpoints.first else {
            throw SluiceError(.invalidArgument, "there is no endpoint \(name ?? "")")
        }
        return found
    }
}

extension JSON {
    /// A member that an action needs.
    func text(_ name: String) throws -> String {
        guard let text = self[name]?.string else {
            throw SluiceError(.invalidArgument, "the member \(name) is missing, or no text")
        }
        return text
    }
}
