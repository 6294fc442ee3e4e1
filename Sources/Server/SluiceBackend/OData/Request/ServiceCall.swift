internal import HTTPTypes
internal import SluiceCore

/// A request to an OData service, with the preferred form of its answer.
struct ServiceCall: Sendable {
    let served: ServedTables
    let model: ServiceModel
    let version: ServiceVersion
    let request: SyncRequest
    let target: RequestTarget
    let preferences: Preferences
    /// The addresses of entities created by earlier requests of a batch, by the names of these requests.
    var references: [String: String] = [:]
    /// The entities among them that do not exist yet, because their change set is still running.
    var created: Set<RecordID> = []

    var head: HTTPRequest { request.head }
    /// The effective method.
    let method: HTTPRequest.Method

    /// - Throws: ``Refusal`` (400).
    init(
        _ served: ServedTables, _ model: ServiceModel, _ version: ServiceVersion, _ request: SyncRequest,
        _ target: RequestTarget
    ) throws(Refusal) {
        self.served = served
        self.model = model
        self.version = version
        self.request = request
        self.target = target
        preferences = Preferences(request.head.headerFields)
        method = try Self.method(request.head)
    }

    /// Whether the client declares version 1 of OData as its latest.
    var knowsV1Only: Bool {
        guard version == .v2, let field = HTTPField.Name("MaxDataServiceVersion").flatMap({ head.headerFields[$0] })
        else { return false }
        return field.hasPrefix("1.0")
    }

    /// The address of the service's root; `http://host/odata/v4/`.
    var root: String { "\(target.base)/\(version.root.joined(separator: "/"))/" }

    /// The segments of the path below the root.
    var segments: [String] { resolved(Array(target.segments.dropFirst(2))) }

    /// Returns the segments of an entity's address in a body or header: with or without the root, or `$name` for an
    /// entity created by an earlier request of the batch.
    ///
    /// - Throws: ``Refusal`` (400) for an address outside of this service.
    func segments(of address: String) throws(Refusal) -> [String] {
        var head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: address)
        if let scheme = address.firstRange(of: "://") {
            let path = address[scheme.upperBound...].drop { $0 != "/" }
            head.path = String(path)
        }
        var segments = RequestTarget(head).segments
        let prefix = target.prefix.split(separator: "/").map { PercentEncoding.decoded($0) }
        if segments.starts(with: prefix + version.root) { segments.removeFirst(prefix.count) }
        let isWhole = address.hasPrefix("/") || address.contains("://")
        guard !isWhole || segments.starts(with: version.root) else {
            throw Refusal(.badRequest, "the address \(address) is not one of this service")
        }
        return resolved(isWhole ? Array(segments.dropFirst(version.root.count)) : segments)
    }

    private func resolved(_ segments: [String]) -> [String] {
        guard let first = segments.first, first.hasPrefix("$"), let address = references[String(first.dropFirst())]
        else {
            return segments
        }
        return [address] + segments.dropFirst()
    }

    /// Returns the format of the answer.
    ///
    /// - Throws: ``Refusal`` (406) if the client accepts none of the media.
    func format(_ media: AnswerFormat.Media...) throws(Refusal) -> AnswerFormat {
        guard let format = AnswerFormat(head.headerFields, target, among: media) else {
            throw Refusal(
                .notAcceptable, "this is answered as " + media.map(\.rawValue).joined(separator: " or "))
        }
        return format
    }

    /// The format of entities: v2 has Atom too.
    func entityFormat() throws(Refusal) -> AnswerFormat {
        version == .v2 ? try format(.json, .atom) : try format(.json)
    }

    /// Returns the equivalent request to the tables' own routes, with this request's user, conditions and id.
    ///
    /// - Parameter isMain: whether the request's conditions and its id apply; they do not apply to secondary changes.
    func tableRequest(
        _ set: EntitySet, _ id: RecordID? = nil, method: HTTPRequest.Method = .get, body: JSON? = nil,
        isMain: Bool = false, tracksChanges: Bool = false
    ) -> TableRequest {
        var path = "/tables/\(PercentEncoding.segment(set.table.name))"
        if let id { path += "/" + PercentEncoding.segment(id.text) }
        var inner = HTTPRequest(method: method, scheme: head.scheme, authority: head.authority, path: path)
        inner.headerFields = head.headerFields
        inner.headerFields[.contentType] = nil
        if let prefer = HTTPField.Name("Prefer") { inner.headerFields[prefer] = tracksChanges ? "track-changes" : nil }
        let conditions: [HTTPField.Name] = [.ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince]
        for name in conditions {
            let values = inner.headerFields[values: name]
            inner.headerFields[name] = nil
            // Tags are weak here, because they identify an entity in any format.
            if isMain {
                let isOfTags = name == .ifMatch || name == .ifNoneMatch
                inner.headerFields[values: name] = isOfTags ? EntityTags.all(in: values).map(EntityTags.strong) : values
            }
        }
        return TableRequest(
            served: served, table: set.table, wire: version.wire, target: RequestTarget(inner),
            request: SyncRequest(inner, body: body.map { MessageBody(json: $0) } ?? .empty))
    }

    /// Returns the request's method, or the tunnelled one of `X-HTTP-Method`, for proxies that block other methods.
    private static func method(_ head: HTTPRequest) throws(Refusal) -> HTTPRequest.Method {
        let merge = HTTPRequest.Method("MERGE")
        var method = head.method
        for name in ["X-HTTP-Method", "X-HTTP-Method-Override"] {
            guard let text = HTTPField.Name(name).flatMap({ head.headerFields[$0] }) else { continue }
            guard head.method == .post, ["PUT", "PATCH", "MERGE", "DELETE", "GET"].contains(text.uppercased()) else {
                throw Refusal(.badRequest, "\(name) stands on a POST, and names GET, PUT, PATCH, MERGE or DELETE")
            }
            method = HTTPRequest.Method(text.uppercased()) ?? method
        }
        return method == merge ? .patch : method
    }
}

extension ETag {
    /// Returns the entity tag of a version; nil for a record without one.
    static func odata(_ version: String?) -> String? { version.map { "W/" + quoted($0) } }
}

/// The preferences of a client (`Prefer`, RFC 7240; OData 4.01 Protocol, section 8.2.8), and the applied ones.
struct Preferences: Sendable {
    /// Whether the answer to a change holds the entity; nil without a preference.
    let returnsEntity: Bool?
    /// The most rows of a page.
    let pageSize: Int?
    /// Whether a list should end with a delta link.
    let tracksChanges: Bool
    /// Whether a batch continues after a failed request.
    let continuesOnError: Bool

    init(_ headers: HTTPFields) {
        var wishes: [String: String] = [:]
        let fields = HTTPField.Name("Prefer").map { headers[values: $0] } ?? []
        for wish in fields.flatMap({ $0.split(separator: ",") }) {
            let sides = wish.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map {
                $0.filter { !" \t\"".contains($0) }.lowercased()
            }
            guard let name = sides.first else { continue }
            let bare = name.hasPrefix("odata.") ? String(name.dropFirst(6)) : name
            if wishes[bare] == nil { wishes[bare] = sides.count > 1 ? sides[1] : "true" }
        }
        switch wishes["return"] {
        case "representation": returnsEntity = true
        case "minimal": returnsEntity = false
        default:
            returnsEntity = wishes["return-content"] != nil ? true : wishes["return-no-content"] != nil ? false : nil
        }
        pageSize = wishes["maxpagesize"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        tracksChanges = wishes["track-changes"] != nil
        continuesOnError = wishes["continue-on-error"].map { $0 != "false" } ?? false
    }
}

extension ServiceCall {
    /// Returns the set's table and all tables reachable over links, because filters and orders may use their
    /// properties.
    func relatives(of set: EntitySet) -> QueryRelatives {
        var main = set.table.schema
        main.references = references(of: set)
        var tables: [String: QueryRelatives.Table] = [:]
        var waiting = [set]
        while let next = waiting.popLast() {
            for link in next.links {
                guard let target = model.set(link.target), tables[target.table.name] == nil else { continue }
                tables[target.table.name] = table(target)
                waiting.append(target)
            }
        }
        return QueryRelatives(main, tables)
    }

    private func table(_ set: EntitySet) -> QueryRelatives.Table {
        let request = tableRequest(set)
        var shown = set.table.schema
        // Columns without a name on the wire are hidden.
        shown.columns.removeAll { request.column($0.name) != $0.name }
        shown.references = references(of: set)
        return QueryRelatives.Table(schema: shown, stored: set.table.schema)
    }

    private func references(of set: EntitySet) -> [TableSchema.Reference] {
        set.links.compactMap { link in
            guard let target = model.set(link.target)?.table.name else { return nil }
            let name = ODataName.decoded(link.name)
            return link.isCollection
                ? .init(name, toMany: target, where: link.column) : .init(name, to: target, by: link.column)
        }
    }
}
