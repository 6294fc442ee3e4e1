internal import HTTPTypes
internal import SluiceCore
internal import SluiceOData

/// The target of an address.
struct ODataTarget: Sendable {
    /// A followed link with its entity.
    struct Step: Sendable {
        var set: EntitySet
        var id: RecordID
        var link: EntitySet.Link
    }

    enum Subject: Sendable {
        /// A set's entities: all, or the targets of a link.
        case list(EntitySet, within: Step?)
        case entity(EntitySet, RecordID, via: Step?)
        /// A link without a target.
        case nothing(EntitySet, via: Step)
        /// A property by its name, declared or not.
        case property(EntitySet, RecordID, String)
        case operation(ODataOperation, arguments: String?)
    }

    /// The requested part of the subject.
    enum Suffix: Sendable {
        case count, value, references
    }

    var subject: Subject
    var suffix: Suffix?
}

/// Follows an address, segment by segment. The user must be allowed to read every entity on the way.
struct Navigator: Sendable {
    let call: ServiceCall
    let operations: [ODataOperation]
    /// Entities to be created by the same change set.
    var created: Set<RecordID> = []

    /// The most segments of an address.
    private static let longest = 20

    /// - Throws: ``Refusal``: 404 for a missing target, 400 for an invalid address.
    func place(_ segments: [String]) async throws -> ODataTarget {
        var segments = segments
        var place: ODataTarget?
        guard segments.count <= Self.longest else { throw Refusal(.badRequest, "the address has too many segments") }
        // v2 has the mark of addresses (`$links`) first, v4 (`$ref`) last.
        let hasLinks = segments.dropFirst().first == "$links"
        if hasLinks { segments.remove(at: 1) }
        for segment in segments {
            if let before = place {
                place = try await step(from: before, to: segment)
            } else {
                place = try first(segment)
            }
        }
        guard var place else { throw Refusal(.notFound, "the address is empty") }
        if hasLinks {
            guard place.suffix == nil else { throw Self.unknown(segments.last ?? "") }
            place.suffix = .references
        }
        return place
    }

    private func first(_ segment: String) throws -> ODataTarget {
        let (name, inner) = ODataList.call(segment).map { ($0.name, $0.inner) } ?? (segment, nil)
        if let set = call.model.set(name) {
            guard let inner, !inner.isEmpty else { return ODataTarget(subject: .list(set, within: nil)) }
            return ODataTarget(subject: .entity(set, try id(inner, set), via: nil))
        }
        if let operation = operations.first(where: { $0.name == name }) {
            return ODataTarget(subject: .operation(operation, arguments: inner))
        }
        let hint = NearestKey.suggestion(for: name, among: call.model.sets.map(\.name)) ?? ""
        throw Refusal(.notFound, "there is no entity set \(name)\(hint)")
    }

    private func id(_ predicate: String, _ set: EntitySet) throws -> RecordID {
        // A parameter alias stands for the whole predicate, or for its value.
        let named = set.key.name + "="
        let rest = String(predicate.hasPrefix(named) ? predicate.dropFirst(named.count) : predicate[...])
        if rest.hasPrefix("@"), let value = call.target.values(rest).first, !value.hasPrefix("@") {
            return try id(value, set)
        }
        guard let id = set.id(predicate: predicate) else {
            throw Refusal(
                .badRequest, "\(predicate) is no key of \(set.name); a key is \(set.hasIntegerIDs ? "7" : "'text'")")
        }
        try RequestBody.check(id: id, table: set.table.name)
        return id
    }

    private func step(from place: ODataTarget, to segment: String) async throws -> ODataTarget {
        guard place.suffix == nil else { throw Self.unknown(segment) }
        switch (segment, place.subject) {
        case ("$count", .list), ("$value", .property), ("$ref", .list), ("$ref", .entity), ("$ref", .nothing):
            let suffixes: [String: ODataTarget.Suffix] = ["$count": .count, "$value": .value, "$ref": .references]
            return ODataTarget(subject: place.subject, suffix: suffixes[segment])
        case (_, .entity(let set, let id, _)): return try await member(segment, of: set, id)
        case (_, .list(let set, let step)) where call.version == .v401 && !segment.hasPrefix("$"):
            return try await keyed(segment, set, step)
        default: throw Self.unknown(segment)
        }
    }

    /// Returns the entity for a key as its own segment (OData 4.01, URL Conventions, section 4.3.6).
    private func keyed(_ segment: String, _ set: EntitySet, _ step: ODataTarget.Step?) async throws -> ODataTarget {
        let id = try id(set.hasIntegerIDs ? segment : EdmLiteral.quoted(segment), set)
        if let step, try await !EntityReads(call).contains(id, set, step) { throw Refusal.missing }
        return ODataTarget(subject: .entity(set, id, via: step))
    }

    private func member(_ segment: String, of set: EntitySet, _ id: RecordID) async throws -> ODataTarget {
        let (name, inner) = ODataList.call(segment).map { ($0.name, $0.inner) } ?? (segment, nil)
        guard let link = set.link(name), let target = call.model.set(link.target) else {
            guard inner == nil, !name.hasPrefix("$") else { throw Self.unknown(segment) }
            return ODataTarget(subject: .property(set, id, name))
        }
        let step = ODataTarget.Step(set: set, id: id, link: link)
        let entity: Entity? = created.contains(id) ? nil : try await EntityReads(call).found(set, id)
        if link.isCollection {
            guard let inner, !inner.isEmpty else { return ODataTarget(subject: .list(target, within: step)) }
            let other = try self.id(inner, target)
            guard try await EntityReads(call).contains(other, target, step) else { throw Refusal.missing }
            return ODataTarget(subject: .entity(target, other, via: step))
        }
        guard inner == nil else { throw Self.unknown(segment) }
        guard let other = entity?.target(of: link) else { return ODataTarget(subject: .nothing(target, via: step)) }
        return ODataTarget(subject: .entity(target, other, via: step))
    }

    private static func unknown(_ segment: String) -> Refusal {
        Refusal(.notFound, "the address does not lead anywhere at \(segment)")
    }
}
