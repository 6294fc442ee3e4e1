internal import HTTPTypes
package import SluiceCore

/// The subject of a ``Match``: the known parts of a request, an answer or an operation.
package struct MatchSubject: Sendable {
    /// The table.
    package var table: String?
    /// The HTTP method, as on the wire: `PATCH`.
    package var method: String?
    /// The action on the record or the table.
    package var kind: SyncRequest.Context.Action?
    /// The status of the answer.
    package var status: Int?
    /// The host of the request, with or without a port.
    package var authority: String?
    /// The names of the record's fields that the change touches.
    package var fieldsChanged: [String]?
    /// The text that decides about a sample: the same text is in or out at all times and on all devices.
    package var sampleKey: String?

    /// A subject.
    package init(
        table: String? = nil, method: String? = nil, kind: SyncRequest.Context.Action? = nil, status: Int? = nil,
        authority: String? = nil, fieldsChanged: [String]? = nil, sampleKey: String? = nil
    ) {
        self.table = table
        self.method = method
        self.kind = kind
        self.status = status
        self.authority = authority
        self.fieldsChanged = fieldsChanged
        self.sampleKey = sampleKey
    }

    /// A request about to be sent. It is sampled by its record, or else by its path. So all attempts and all changes
    /// of one record are in a sample, or none is.
    init(_ request: SyncRequest) {
        self.init(
            table: request.context.table, method: request.head.method.rawValue, kind: request.context.action,
            authority: request.head.authority, sampleKey: request.context.recordID?.text ?? request.head.path)
    }
}

extension MatchSubject {
    /// A queued operation. Sampling goes by its record.
    package init(_ operation: TableOperation, status: Int? = nil, fieldsChanged: [String]? = nil) {
        self.init(
            table: operation.table, kind: SyncRequest.Context.Action(operation.kind), status: status,
            fieldsChanged: fieldsChanged, sampleKey: operation.recordID.text)
    }
}

extension SyncRequest.Context.Action {
    /// The action of the request for an operation of that kind.
    init(_ kind: TableOperation.Kind) {
        switch kind {
        case .insert: self = .insert
        case .update: self = .update
        case .delete: self = .delete
        case .undelete: self = .undelete
        }
    }
}

extension Match {
    /// A match in the form of manifests, which may only use the allowed conditions.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` that names the JSON pointer, the expected and the found
    ///   value; for an unknown condition the nearest known one.
    init(_ place: JSONPlace, allowed: [MatchCondition] = MatchCondition.allCases) throws(SluiceError) {
        let members = try place.members(MatchCondition.allCases.map(\.rawValue))
        for condition in MatchCondition.allCases {
            guard let place = members[condition.rawValue], !allowed.contains(condition) else { continue }
            let names = allowed.map(\.rawValue).joined(separator: ", ")
            throw place.refusal("not known here; a match may ask for \(names.isEmpty ? "nothing" : names)")
        }
        func list(_ condition: MatchCondition) throws(SluiceError) -> [String] {
            guard let place = members[condition.rawValue] else { return [] }
            return try Self.texts(place, condition)
        }
        var labels: [String: [String]] = [:]
        for (name, place) in try members["deployment"]?.entries(upTo: Self.maximumValues) ?? [] {
            labels[name] = try Self.texts(place, .deployment)
        }
        var share: Double?
        if let sample = members["sample"] {
            guard let number = sample.value.double, (0...1).contains(number) else {
                throw sample.expected("a number from 0 to 1")
            }
            share = number
        }
        try self.init(
            tables: list(.tables), methods: list(.methods),
            kinds: list(.kinds).compactMap(SyncRequest.Context.Action.init), status: list(.status), hosts: list(.hosts),
            deployment: labels, fieldsChanged: list(.fieldsChanged), sample: share)
    }

    /// Returns a text or a list of texts. Each is checked here, so that a refusal names its place.
    private static func texts(_ place: JSONPlace, _ condition: MatchCondition) throws(SluiceError) -> [String] {
        let single = place.value.kind == .string || condition == .status && place.value.kind == .number
        let places = single ? [place] : try place.items(upTo: maximumValues)
        guard !places.isEmpty else { throw place.expected("at least one") }
        var texts: [String] = []
        for place in places {
            switch condition {
            case .methods: texts.append(try place.choice(of: methods))
            case .kinds: texts.append(try place.choice(of: SyncRequest.Context.Action.allCases.map(\.rawValue)))
            case .status:
                let text = place.value.int.map { String($0) } ?? place.value.string ?? ""
                guard StatusPattern(text) != nil else {
                    throw place.expected("a status such as 412, or a class of them such as \"5xx\"")
                }
                texts.append(text)
            case .tables, .hosts, .deployment, .fieldsChanged, .sample:
                let text = try place.text(upTo: Glob.maximumLength)
                guard Glob(text) != nil else { throw place.expected("a name or a pattern, without control characters") }
                texts.append(text)
            }
        }
        return texts
    }
}
