internal import SluiceBase
internal import SluiceSync

extension OfflineStore {
    /// The defining requests, by name, each with what has become of it.
    public func requests() async throws -> [DefinedRequest] {
        try state.require()
        return try await context.store.read { try DefinedRequest.all(in: $0) }
    }

    /// Adds a defining request, or replaces the one of that name. The next download fills the store with it; until then
    /// reads go on as if it were not there. The very same request is left as it is.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` for what no store can be filled with: see ``DefiningRequest``;
    ///   `operationsPending` where it replaces one of another table while changes of that table wait.
    public func add(_ request: DefiningRequest) async throws {
        try state.require()
        var request = request
        request.table = schemas.spelled(request.table)
        request.options.expand = schemas.spelled(request.options.expand, of: request.table)
        try request.validate(Dictionary(tables.map { ($0.name, $0) }) { $1 })
        let known = try await requests().first { $0.request.name == request.name }
        var defined = DefinedRequest(request)
        if let known {
            if known.record["options"] == defined.record["options"], known.request.table == request.table { return }
            // The engine finds by itself what a changed query holds no more; of another table nothing is held.
            if known.request.table != request.table {
                try await release(known.parts)
            } else {
                defined.parts += known.parts.dropFirst()
            }
        }
        try await save(defined)
    }

    /// Removes a defining request. Records that no other holds go from the device; none is deleted at the service.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a name that there is not; `operationsPending` while changes
    ///   of its tables wait: upload them first.
    public func remove(_ name: String) async throws {
        try state.require()
        guard let known = try await requests().first(where: { $0.request.name == name }) else {
            throw SluiceError(.invalidArgument, "there is no defining request \"\(name)\"")
        }
        try await release(known.parts)
        try await context.store.write {
            try $0.delete([.string(name)], from: DefinedRequest.schema.name)
            try DownloadedLinks.forget(name, in: $0)
        }
    }

    func save(_ request: DefinedRequest) async throws {
        let record = request.record
        try await context.store.write { try $0.put(record, in: DefinedRequest.schema.name) }
    }

    /// Has named queries let their records go.
    func release(_ parts: [DefinedRequest.Part]) async throws {
        for part in parts {
            do {
                try await context.purge(Query(part.table), named: part.name)
            } catch let error as SluiceError where error.code == .invalidArgument {
                // Nothing was ever pulled under the name.
            }
        }
    }
}
