internal import HTTPTypes
package import SluiceCore

/// Serves a local store over the tables protocol, in all its generations. Clients on this machine read and write it
/// like the server, with or without a network. Writes are queued like any local write.
///
/// The answers hold the store's records. A record's version is the latest from the server, so a new local record has
/// none until it is pushed. `X-Sluice-Pending` is the number of pending operations on the answer's records, and
/// `X-Sluice-Source` is `local`.
package struct TablesGateway: Sendable {
    let context: SyncContext
    /// The declared tables; others are served too if the store has them.
    let tables: [TableSchema]

    /// Creates a gateway to a context's store.
    package init(context: SyncContext, tables: [TableSchema]) {
        self.context = context
        self.tables = tables
    }

    /// Answers a request; every failure becomes an answer too.
    package func respond(to request: SyncRequest) async -> SyncResponse {
        let target = RequestTarget(request.head)
        var wire = ServerWire.azureV2
        do {
            wire = try ServerWire.of(request.head, target)
            return try await reply(to: request, target, wire).response
        } catch let refusal as Refusal {
            return wire.response(to: refusal.hiding(request.head), asked: wire.asked(by: target))
        } catch let error as SluiceError {
            return wire.response(to: Self.refusal(error).hiding(request.head), asked: [])
        } catch {
            return wire.response(to: Refusal(.internalServerError, "the request failed"), asked: [])
        }
    }

    private func reply(to request: SyncRequest, _ target: RequestTarget, _ wire: ServerWire) async throws -> Reply {
        guard target.segments.first == "tables", (2...3).contains(target.segments.count) else {
            throw Refusal(.notFound, "there is nothing at this path; tables are at /tables/NAME")
        }
        let table = target.segments[1]
        guard table != BatchDocument.name else {
            throw Refusal(.notImplemented, "the gateway takes no batches: a write costs no exchange with the server")
        }
        guard let schema = try await schema(of: table) else { throw Refusal(.notFound, "the table does not exist") }
        let requests = GatewayRequest(
            context: context, schema: schema, wire: wire, target: target, request: request)
        guard target.segments.count == 3 else {
            switch request.head.method {
            case .get: return try await requests.list()
            case .post: return try await requests.insert()
            default: throw Refusal.method(allowed: "GET, POST")
            }
        }
        let id = RecordID(target.segments[2])
        try RequestBody.check(id: id, table: table)
        switch request.head.method {
        case .get: return try await requests.lookup(id)
        case .patch where wire.patches: return try await requests.update(id, replacing: false)
        case .put: return try await requests.update(id, replacing: true)
        case .delete: return try await requests.delete(id)
        case .post where wire.undelete == .post: return try await requests.undelete(id)
        default: throw Refusal.method(allowed: wire.recordMethods)
        }
    }

    /// Returns the table's declaration; nil if neither the configuration nor the store has such a table.
    private func schema(of name: String) async throws -> TableSchema? {
        if let declared = tables.first(where: { $0.name == name }) { return declared }
        guard (try? context.table(name)) != nil else { return nil }
        return try await context.store.read { try $0.tables() }.first { $0.name == name }
    }

    /// Returns the answer for an error of the store or the engine.
    static func refusal(_ error: SluiceError) -> Refusal {
        switch error.code {
        case .recordMissing: Refusal.missing
        case .refusedByHook: Refusal(.unprocessableContent, error.message)
        case .operationRefused: Refusal(.conflict, error.message)
        default: Refusal(error)
        }
    }
}

/// The versions of records in the gateway's answers. A record with a pending operation has the server's last version
/// and a mark of its content, so each local write makes a new version. After the push it has the server's version.
///
/// After the push a client's marked version still matches the record, so that it need not read the record before its
/// next write.
enum GatewayVersion {
    /// Returns the record with its version for the client.
    ///
    /// - Parameter stored: a record with the wires' column names.
    static func shown(_ stored: JSON, isPending: Bool) -> JSON {
        guard isPending else { return stored }
        var shown = stored
        shown[SystemColumn.version] = JSON(pending(stored))
        return shown
    }

    /// Returns the version of a record with a pending operation.
    static func pending(_ stored: JSON) -> String { (stored[SystemColumn.version]?.string ?? "") + mark(of: stored) }

    /// Whether a version was shown for a record of the same content.
    static func isSame(_ version: String, as stored: JSON) -> Bool {
        version.utf8.suffix(markLength).elementsEqual(mark(of: stored).utf8)
    }

    private static let markLength = 17

    private static func mark(of stored: JSON) -> String {
        let names = stored.names.filter { !SystemColumn.all.contains($0) }.sorted()
        let parts = names.flatMap { [$0.text, (stored[$0] ?? .null).description] }
        let digits = String(Fingerprint.of(parts), radix: 16)
        return "~" + String(repeating: "0", count: markLength - 1 - digits.utf8.count) + digits
    }
}
