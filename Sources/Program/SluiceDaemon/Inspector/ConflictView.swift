internal import Sluice
internal import SluiceLua
internal import SluicePluginTools

/// Shows held conflicts with each side's changes and the plugins' decisions, and carries out the operator's.
struct ConflictView: Sendable {
    /// The most conflicts shown, because each asks the plugins.
    private static let most = 50

    private let session: ClientSession
    private let plugins: PluginsView
    private var context: SyncContext { session.context }

    init(_ endpoint: InspectedEndpoint) {
        session = endpoint.session
        plugins = PluginsView(endpoint)
    }

    /// Returns the conflicts in the queue's order.
    func conflicts() async throws -> JSON {
        let held = try await context.queue.operations(TableOperation.Filter(states: [.parked])).filter(\.isHeldConflict)
        var conflicts = JSON.array
        for operation in held.prefix(Self.most) {
            let conflict = try await conflict(operation)
            let fields = FieldComparison(
                dialect: context.options.dialect, base: conflict.base, local: conflict.client, server: conflict.server)
            conflicts.append(
                operation.shown.setting([
                    "fields": fields.json, "hasLocal": JSON(fields.local != nil),
                    "hasServer": JSON(fields.server != nil && !conflict.isDeletedOnServer),
                    "hasBase": JSON(fields.base != nil), "previews": try await previews(conflict),
                    "policy": JSON(session.settings.conflicts.rawValue),
                ]))
        }
        return ["count": JSON(held.count), "conflicts": conflicts]
    }

    private func conflict(_ operation: TableOperation) async throws -> Conflict {
        let copies = try await context.queue.copies(of: operation)
        // The mirror comes first: the record stored with the failure may lack redacted credentials.
        let server = copies.mirror ?? operation.failure?.serverRecord
        let isDeleted = server.map { $0[context.options.dialect.columns.deleted] == true } ?? true
        return Conflict(
            operation: operation, client: try await context.queue.body(of: operation), server: server,
            base: copies.base, maybeApplied: operation.isUncertain, status: operation.failure?.status ?? 412,
            isDeletedOnServer: isDeleted)
    }

    /// Returns the decision of each plugin for the conflict, in the chain's order.
    private func previews(_ conflict: Conflict) async throws -> JSON {
        var previews = JSON.array
        for plan in try plugins.order(.conflict) {
            guard
                let preview = try await ConflictPreview.preview(
                    of: conflict, by: plan, dialect: context.options.dialect, tables: session.settings.tables,
                    now: context.options.environment.now())
            else { continue }
            var json: JSON = [
                "plugin": JSON(preview.plugin), "decision": JSON(preview.decision),
                "shadow": JSON(plan.mode == .shadow),
                "rules": JSON(
                    (preview.fields.members ?? []).map { name, rule -> JSON in
                        var json: JSON = ["field": JSON(name)]
                        json["rule"] = rule["rule"]
                        json["side"] = rule["side"]
                        json["value"] = rule["value"].map { JSON($0.description) }
                        return json
                    }),
            ]
            json["reason"] = (preview.reason ?? preview.failure?.description).map { JSON($0) }
            json["record"] = preview.record.map { JSON($0.pretty) }
            previews.append(json)
        }
        return previews
    }

    /// Resolves a conflict: `decision` is `server`, `client`, `delete`, or `merge` with `fields`. A field's entry names
    /// the side of its value, `{"side": "local"}`, `base` or `server`, or gives another value as JSON text, `{"text":
    /// "5"}`.
    func resolve(_ body: JSON) async throws -> JSON {
        let id = try body.text("id")
        guard let operation = try await context.queue.operation(id) else {
            throw SluiceError(.invalidArgument, "there is no such operation in the queue")
        }
        let decision: ConflictDecision
        switch try body.text("decision") {
        case "server": decision = .server
        case "client": decision = .client
        case "delete": decision = .delete
        case "merge": decision = .replace(try merged(try await conflict(operation), body["fields"] ?? .object))
        case let other: throw SluiceError(.invalidArgument, "there is no decision \(other)")
        }
        try await context.queue.resolve(id, decision, revision: body["revision"]?.int.map { Int(clamping: $0) })
        return .object
    }

    /// Returns the record with the chosen values; a field without a choice gets the value of the only side that changed
    /// it, or the server's. Chosen values come from the stored copies: the page sends only those typed by hand.
    private func merged(_ conflict: Conflict, _ fields: JSON) throws -> JSON {
        guard var record = conflict.merged(preferring: .server), let client = conflict.client else {
            throw SluiceError(.invalidArgument, "there are no two records to merge: one side deleted it")
        }
        for (name, choice) in fields.members ?? [] {
            switch choice["side"]?.string {
            case "local": record[name] = client[name]
            case "server": record[name] = conflict.server?[name]
            case "base": record[name] = conflict.base?[name]
            default:
                guard let value = try? JSON(parsing: choice.text("text")) else {
                    throw SluiceError(.invalidArgument, "the value of \(name) is no JSON")
                }
                record[name] = value
            }
        }
        return record
    }
}
