internal import HTTPTypes
internal import SluiceCore

/// The parsed body of an entity: its properties, its links, and its new related entities.
struct EntityBody: Sendable {
    /// The body's value of a navigation property.
    enum Linked: Sendable {
        /// The addresses of existing entities.
        case addresses([String])
        /// New entities.
        case entities([JSON])
        /// No entity.
        case none
    }

    /// The record's properties, in the store's names and forms.
    private(set) var properties: [(name: PropertyName, value: JSON)] = []
    private(set) var links: [(link: EntitySet.Link, linked: Linked)] = []
    /// The key, if the body has one.
    private(set) var key: JSON?

    /// Reads the body of a request.
    ///
    /// - Throws: ``Refusal``: 400 for an invalid entity, 415 for another format than JSON.
    init(_ call: ServiceCall, _ set: EntitySet) throws {
        try self.init(Self.document(call), call, set)
    }

    /// Returns the JSON of a body, without the wrapper of some v2 clients.
    static func document(_ call: ServiceCall) throws -> JSON {
        let type = call.head.headerFields[.contentType]?.prefix { $0 != ";" }.lowercased() ?? "application/json"
        guard type == "application/json" || type.hasSuffix("+json") && type.hasPrefix("application/") else {
            throw Refusal(.unsupportedMediaType, "a body is application/json")
        }
        let document = try RequestBody.document(of: call.request, call.version.wire)
        if call.version == .v2, document.count == 1, let inner = document["d"], inner.kind == .object { return inner }
        return document
    }

    /// Reads an entity.
    init(_ json: JSON, _ call: ServiceCall, _ set: EntitySet) throws {
        guard json.kind == .object else { throw Refusal(.badRequest, "an entity is a JSON object") }
        try Self.checkType(of: json, call, set)
        for (name, value) in json.members ?? [] {
            let text = name.text
            if let at = text.firstIndex(of: "@") {
                // Only links matter among the annotations.
                guard ["odata.bind", "bind"].contains(text[text.index(after: at)...]) else { continue }
                guard let link = set.link(String(text[..<at])) else { throw Self.unknown(String(text[..<at]), set) }
                links.append((link, .addresses(try Self.addresses(value, link))))
            } else if call.version == .v2, text == "__metadata" {
                continue
            } else if let link = set.link(text) {
                if let linked = try Self.linked(value, link, call.version) { links.append((link, linked)) }
            } else if text == set.key.name {
                if !value.isNull { key = value }
            } else {
                try add(name, value, call, set)
            }
        }
    }

    /// Refuses an entity with the type of another set.
    private static func checkType(of json: JSON, _ call: ServiceCall, _ set: EntitySet) throws(Refusal) {
        let written = call.version == .v2 ? json["__metadata"]?["type"] : json["@odata.type"] ?? json["@type"]
        let own = "\(call.model.namespace).\(set.name)"
        guard let name = written?.string?.split(separator: "#").last, name != own else { return }
        throw Refusal(.badRequest, "the entity is a \(name), and \(set.name) has entities of its own type alone")
    }

    private mutating func add(_ name: PropertyName, _ value: JSON, _ call: ServiceCall, _ set: EntitySet) throws {
        guard let property = set.property(name.text) else {
            guard call.version != .v2 else { throw Self.unknown(name.text, set) }
            properties.append((ODataName.decoded(name.text), value))
            return
        }
        if property.isComputed { return }
        properties.append((property.column, try ValueForm.read(value, property, call.version)))
    }

    private static func addresses(_ value: JSON, _ link: EntitySet.Link) throws(Refusal) -> [String] {
        let addresses = (value.elements ?? [value]).compactMap(\.string)
        guard !addresses.isEmpty || value.elements?.isEmpty == true, addresses.count == value.elements?.count ?? 1,
            link.isCollection == (value.kind == .array)
        else {
            throw Refusal(
                .badRequest,
                "\(link.name) is bound to \(link.isCollection ? "an array of addresses" : "an address")")
        }
        return addresses
    }

    /// Reads the value of a navigation property; nil for a deferred link.
    private static func linked(_ value: JSON, _ link: EntitySet.Link, _ version: ServiceVersion) throws -> Linked? {
        if value.isNull, !link.isCollection { return Linked.none }
        if value["__deferred"] != nil { return nil }
        let entities = value.elements ?? (version == .v2 ? value["results"]?.elements : nil) ?? [value]
        guard entities.allSatisfy({ $0.kind == .object }), link.isCollection || value.kind == .object else {
            throw Refusal(.badRequest, "\(link.name) is \(link.isCollection ? "an array of entities" : "an entity")")
        }
        let references = entities.compactMap { reference($0, version) }
        if references.isEmpty { return .entities(entities) }
        guard references.count == entities.count else {
            throw Refusal(.badRequest, "\(link.name) holds either new entities or addresses of others")
        }
        return .addresses(references)
    }

    /// Returns the address of a reference object; nil for an entity.
    static func reference(_ json: JSON, _ version: ServiceVersion) -> String? {
        if version == .v2 {
            let isReference = json.count == 1
            return isReference ? (json["uri"] ?? json["__metadata"]?["uri"])?.string : nil
        }
        let isReference = json.names.allSatisfy { ["@id", "@odata.id", "@odata.context", "@context"].contains($0) }
        return isReference ? (json["@odata.id"] ?? json["@id"])?.string : nil
    }

    private static func unknown(_ name: String, _ set: EntitySet) -> Refusal {
        let hint = NearestKey.suggestion(for: name, among: set.properties.map(\.name) + set.links.map(\.name)) ?? ""
        return Refusal(.badRequest, "\(set.name) has no property \(name)\(hint)")
    }
}
