internal import HTTPTypes
internal import SluiceCore

/// An update of a record: merges properties, replaces all of them, or applies a patch.
struct RecordUpdate: Sendable {
    private enum Change: Sendable {
        case merge(JSON)
        case replace(JSON)
        case patch(JSONPatch)
    }

    private let change: Change
    private let request: TableRequest
    private var names: SystemNames { request.wire.names }

    /// Reads the update from a request to a record's path.
    ///
    /// - Throws: ``Refusal`` (400, 415).
    init(_ request: TableRequest, replacing: Bool, id: RecordID) throws {
        self.request = request
        let type = request.head.headerFields[.contentType]?.lowercased() ?? ""
        if !replacing, request.wire.undelete == .patch, type.hasPrefix("application/json-patch+json") {
            change = .patch(try JSONPatch(RequestBody.document(of: request.request, request.wire)))
            return
        }
        let body = try RequestBody.object(of: request.request, request.wire)
        if let other = body["id"], (other.textID ?? other.int.map { .string(String($0)) }) != id {
            throw Refusal(.badRequest, "the id in the body is not the one in the path")
        }
        _ = try request.wire.properties(of: body, verb: "update")
        change = replacing ? .replace(body) : .merge(body)
    }

    /// Whether the update is the wire's form of an undelete.
    var revives: Bool {
        let name = names.wire(SystemColumn.deleted) ?? SystemColumn.deleted
        switch (request.wire.undelete, change) {
        case (.patch, .merge(let body)): return body[name]?.bool == false
        case (.patch, .patch(let patch)): return patch.sets(name, to: false)
        // Clients of the Datasync Toolkit may declare version 3.
        case (.put, .replace(let body)), (.patch, .replace(let body)):
            return request.includesDeleted && body[name]?.bool != true
        default: return false
        }
    }

    /// The base version in the body, on a wire that treats it as a condition.
    var versionInBody: String? {
        guard request.wire.comparesVersionInBody else { return nil }
        switch change {
        case .merge(let body), .replace(let body): return body[SystemColumn.version]?.string
        case .patch: return nil
        }
    }

    /// Whether hooks get the whole new record instead of the changes.
    var replaces: Bool { if case .merge = change { false } else { true } }

    /// Returns the update's record for hooks, in the store's names; nil for a patch without a stored record.
    func record(_ id: RecordID, stored: JSON?) throws -> JSON? {
        let record: JSON
        switch change {
        case .merge(let body), .replace(let body): record = JSON(members: try properties(of: body))
        case .patch:
            guard let stored else { return nil }
            record = try applied(to: stored)
        }
        var named: JSON = ["id": JSON(id)]
        for (name, value) in record.members ?? [] where !SystemColumn.all.contains(name) { named[name] = value }
        return named
    }

    /// Returns the update with the properties of ``record(_:stored:)`` after the hooks; without hooks, itself.
    func giving(_ properties: JSON?) throws -> RecordUpdate {
        guard var body = properties else { return self }
        guard case .merge(let old) = change else { return RecordUpdate(.replace(body), request) }
        // The system columns of the body stay, to be checked as without hooks.
        let given = Set(try self.properties(of: old).map(\.name))
        for (name, value) in old.members ?? [] where !given.contains(name) { body[name] = value }
        return RecordUpdate(.merge(body), request)
    }

    private init(_ change: Change, _ request: TableRequest) {
        self.change = change
        self.request = request
    }

    /// Returns the record after the update.
    ///
    /// - Throws: ``Refusal`` (400) for a change of a system column.
    func applied(to current: JSON) throws -> JSON {
        var record = current
        switch change {
        case .merge(let body):
            try refuseTouching(body, current)
            for (name, value) in try properties(of: body) { record[name] = value }
        case .replace(let body): record = try replaced(current, by: body)
        case .patch(let patch):
            let shown = request.wire.record(current, asked: Set(SystemColumn.all))
            let patched = try patch.applied(to: shown)
            guard patched["id"] == shown["id"] else { throw Self.touched("id") }
            try refuseTouching(patched, current)
            record = try replaced(current, by: patched)
        }
        record[SystemColumn.deleted] = false
        return record
    }

    private func properties(of body: JSON) throws -> [(name: PropertyName, value: JSON)] {
        try request.wire.properties(of: body, verb: "update")
    }

    private func replaced(_ current: JSON, by body: JSON) throws -> JSON {
        var record = JSON(members: [("id", current["id"] ?? .null)])
        record[SystemColumn.createdAt] = current[SystemColumn.createdAt]
        for (name, value) in try properties(of: body) { record[name] = value }
        return record
    }

    /// Refuses other values for system columns in a partial record; in a whole record they are ignored.
    private func refuseTouching(_ body: JSON, _ current: JSON) throws {
        guard request.wire.reserved == .ignored else { return }
        let shown = request.wire.record(current, asked: Set(SystemColumn.all))
        for name in names.wire {
            guard let value = body[name], value != shown[name] else { continue }
            // This undeletes a record, so it is allowed.
            if name == names.wire(SystemColumn.deleted), value.bool == false { continue }
            throw Self.touched(name)
        }
    }

    private static func touched(_ name: PropertyName) -> Refusal {
        Refusal(.badRequest, "Cannot update item with property '\(name)' as it is reserved")
    }
}
