internal import HTTPTypes
internal import SluiceCore

/// What an update does to a record: merges properties into it, replaces them all, or changes them step by step.
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

    /// Whether this is the way in which the wire's clients bring a tombstone back.
    var revives: Bool {
        let name = names.wire(SystemColumn.deleted) ?? SystemColumn.deleted
        switch (request.wire.undelete, change) {
        case (.patch, .merge(let body)): return body[name]?.bool == false
        case (.patch, .patch(let patch)): return patch.sets(name, to: false)
        // Clients of the toolkit may call themselves version 3.
        case (.put, .replace(let body)), (.patch, .replace(let body)):
            return request.includesDeleted && body[name]?.bool != true
        default: return false
        }
    }

    /// The version that the body names as the one it was made on, on a wire where that is a condition.
    var versionInBody: String? {
        guard request.wire.comparesVersionInBody else { return nil }
        switch change {
        case .merge(let body), .replace(let body): return body[SystemColumn.version]?.string
        case .patch: return nil
        }
    }

    /// Whether the record that hooks see is all there will be of it, and not what changes.
    var replaces: Bool { if case .merge = change { false } else { true } }

    /// What the update says of the record, as hooks see it, in the store's names; nil where it takes the stored record
    /// to know, and there is none.
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

    /// The update with the properties that hooks left of ``record(_:stored:)``; itself where they were not asked.
    func giving(_ properties: JSON?) throws -> RecordUpdate {
        guard var body = properties else { return self }
        guard case .merge(let old) = change else { return RecordUpdate(.replace(body), request) }
        // What the body says of the server's columns is judged as before.
        let given = Set(try self.properties(of: old).map(\.name))
        for (name, value) in old.members ?? [] where !given.contains(name) { body[name] = value }
        return RecordUpdate(.merge(body), request)
    }

    private init(_ change: Change, _ request: TableRequest) {
        self.change = change
        self.request = request
    }

    /// The stored record after the update.
    ///
    /// - Throws: ``Refusal`` (400) for a change of what only the server sets.
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

    /// A part of a record that gives the server's columns other values than they have is a mistake, where a whole
    /// record's are passed over.
    private func refuseTouching(_ body: JSON, _ current: JSON) throws {
        guard request.wire.reserved == .ignored else { return }
        let shown = request.wire.record(current, asked: Set(SystemColumn.all))
        for name in names.wire {
            guard let value = body[name], value != shown[name] else { continue }
            // What is deleted may be brought back so.
            if name == names.wire(SystemColumn.deleted), value.bool == false { continue }
            throw Self.touched(name)
        }
    }

    private static func touched(_ name: PropertyName) -> Refusal {
        Refusal(.badRequest, "Cannot update item with property '\(name)' as it is reserved")
    }
}
