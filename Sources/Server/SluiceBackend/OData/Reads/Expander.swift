internal import HTTPTypes
internal import SluiceCore

/// Reads the related entities of `$expand`. Each list is read like a request to its own address: within its table's
/// rules, and in pages.
struct Expander {
    private let reads: EntityReads
    private let call: ServiceCall
    /// The number of entities that may still be read. Beyond it a list is empty with a link to its content, so that
    /// nested lists cannot fill the memory.
    private var rest = Self.most
    /// The single entities read so far.
    private var known: [String: Entity?] = [:]

    /// The most expanded entities of one answer.
    static let most = 10_000

    init(_ call: ServiceCall) {
        self.call = call
        reads = EntityReads(call)
    }

    mutating func expand(_ entities: [Entity], _ options: QueryOptions) async throws -> [Entity] {
        guard !options.expansions.isEmpty else { return entities }
        var entities = entities
        for index in entities.indices {
            for expansion in options.expansions {
                entities[index].expanded[expansion.link.name] = try await expanded(entities[index], expansion)
            }
        }
        return entities
    }

    private mutating func expanded(
        _ entity: Entity, _ expansion: QueryOptions.Expansion
    ) async throws -> Entity.Expanded? {
        guard let set = call.model.set(expansion.link.target) else { return nil }
        let step = ODataTarget.Step(set: entity.set, id: entity.id, link: expansion.link)
        guard expansion.link.isCollection else {
            guard let id = entity.target(of: expansion.link) else { return .one(nil) }
            return .one(try await one(set, id, expansion))
        }
        if expansion.form == .count {
            return .count(try await reads.count(set, expansion.options, within: step))
        }
        let base = call.root + entity.set.address(entity.id, call.version) + "/\(expansion.link.name)"
        guard rest > 0 else {
            let start = SkipToken(.rows(expansion.options.query.skip), top: expansion.options.query.top)
            let next = EntityReads.link(
                base, expansion.options, without: ["skip", "skiptoken"], ("$skiptoken", start.text))
            return .many(EntityList(entities: [], next: next))
        }
        var list = try await reads.list(set, expansion.options, within: step, base: base, limit: rest)
        rest -= list.entities.count
        list.entities = try await expand(list.entities, expansion.options)
        if expansion.form == .references {
            for index in list.entities.indices { list.entities[index].isReference = true }
        }
        return .many(list)
    }

    private mutating func one(
        _ set: EntitySet, _ id: RecordID, _ expansion: QueryOptions.Expansion
    ) async throws -> Entity? {
        var entity: Entity?
        let key = set.name + "\n" + id.text
        if let known = known[key] {
            entity = known
        } else if rest > 0 {
            do {
                entity = try await reads.found(set, id)
                rest -= 1
            } catch let refusal as Refusal where refusal.status == .notFound {
                // The entity is missing or outside of the request's scope.
                entity = nil
            }
            known[key] = entity
        }
        guard var entity else { return nil }
        entity.selected = expansion.options.selected
        entity.isReference = expansion.form == .references
        return try await expand([entity], expansion.options).first
    }
}
