internal import SluiceCore

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
