internal import HTTPTypes
internal import SluiceCore
internal import SluiceOData

/// The query options of a request for one set's entities, parsed and checked.
struct QueryOptions: Sendable {
    /// The expansion of a link: its entities are included in the answer.
    struct Expansion: Sendable {
        enum Form: Sendable {
            case entities, references, count
        }
        var link: EntitySet.Link
        var form = Form.entities
        var options: QueryOptions

        /// Expands the link's entities by the same link, for the levels of `$levels`, within the limit of any
        /// expansion. (OData 4.01, URL Conventions, section 5.1.3.1.)
        mutating func repeatDownwards(in target: EntitySet, depth: Int) throws {
            guard target.link(link.name)?.target == link.target, link.target == target.name else {
                throw Refusal(.badRequest, "$levels: \(link.name) does not lead to entities that have it too")
            }
            var inner = self
            for _ in 1..<max(1, min(options.levels, deepest - depth + 1)) {
                var outer = self
                outer.options.expansions.append(inner)
                inner = outer
            }
            self = inner
        }
    }

    /// The query of the list. Its selection is empty; see ``selected``.
    var query: TableQuery
    /// The properties of the answer; nil for all.
    private(set) var selected: [PropertyName]?
    private(set) var expansions: [Expansion] = []
    private(set) var skipToken: SkipToken?
    private(set) var deltaToken: String?
    /// The properties computed for the answer; empty for none.
    private(set) var computed: [ODataOptions.ComputedProperty] = []
    /// Whether the answer aggregates the entities instead of listing them: `$apply`.
    private(set) var isApplied = false
    /// The number of levels of a recursive expansion.
    private var levels = 1
    /// The original options.
    private(set) var parameters: [(name: String, value: String)] = []
    /// The address in `$id`.
    private(set) var reference: String?
    /// Whether the list has no order other than the ids'.
    var isInOrderOfIDs: Bool { query.order.isEmpty }

    /// The deepest nesting of `$expand`.
    static let deepest = 5
    /// The most properties that `$expand` names at one level.
    private static let mostExpansions = 20
    private static let names: Set<String> = [
        "filter", "orderby", "select", "expand", "top", "skip", "count", "search", "compute", "apply", "format", "id",
        "skiptoken", "deltatoken", "levels", "index", "schemaversion",
    ]

    /// Creates the options for all entities of a set.
    init(_ set: EntitySet) { query = TableQuery(set.table.name) }

    /// Reads the options of a request's address.
    ///
    /// - Throws: ``Refusal``: 400 with the reason and the place, 501 for an unsupported option.
    init(_ call: ServiceCall, _ set: EntitySet) throws {
        try self.init(call, set, call.target.parameters, depth: 0)
    }

    private init(
        _ call: ServiceCall, _ set: EntitySet, _ parameters: [(name: String, value: String)], depth: Int
    ) throws {
        self.init(set)
        self.parameters = parameters
        let table = call.tableRequest(set)
        let undeclared = table.undeclaredColumns
        let columns: ODataColumns = { table.column($0) }
        let related = call.relatives(of: set)
        // An expansion may name the aliases of the request, too.
        let aliases = (depth > 0 ? call.target.parameters : []) + parameters
        var given: [String: String] = [:]
        var paths: [(link: String, rest: String)] = []
        for (name, value) in parameters {
            guard let option = Self.option(name, call.version, isNested: depth > 0) else { continue }
            guard given.updateValue(value, forKey: option) == nil else {
                throw Refusal(.badRequest, "the query option \(name) is given twice")
            }
        }
        isApplied = given["apply"] != nil && call.version != .v2
        if isApplied {
            guard depth == 0 else { throw Refusal(.notImplemented, "$apply is served for the whole request alone") }
            return
        }
        let computing = try (call.version == .v2 ? nil : given["compute"]).map {
            try ComputedOptions($0, given, aliases: aliases, table, related.main)
        }
        computed = computing?.properties ?? []
        for (name, value) in parameters {
            guard let option = Self.option(name, call.version, isNested: depth > 0) else { continue }
            switch option {
            case "filter" where computing != nil, "orderby" where computing != nil, "compute" where computing != nil:
                continue
            case "filter":
                query.filter = try Self.reading(name) {
                    try QueryExpression(
                        odata: value, for: related.main, undeclared: undeclared, relations: related, aliases: aliases,
                        columns: columns)
                }
            case "orderby":
                query.order = try Self.reading(name) {
                    try TableQuery.order(
                        odata: value, for: related.main, undeclared: undeclared, relations: related, aliases: aliases,
                        columns: columns)
                }
            case "select": paths = try select(value, call, set, table)
            case "expand": expansions = try Self.expand(value, call, set, depth)
            case "skip": query.skip = try ListParameters.count(name, value)
            case "top": query.top = try ListParameters.count(name, value)
            case "count": query.includesCount = try ListParameters.flag(name, value, yes: "true", no: "false")
            case "inlinecount": query.includesCount = try ListParameters.flag(name, value, yes: "allpages", no: "none")
            case "skiptoken": skipToken = try SkipToken(value)
            case "deltatoken": deltaToken = Self.unquoted(value)
            case "id": reference = value
            case "format": continue
            case "search" where call.version != .v2: query.filter = .all(query.filter, try Self.search(value, set))
            case "levels" where call.version != .v2 && depth > 0: levels = try Self.levels(value)
            default: throw Refusal(.notImplemented, "the query option \(name) is not served")
            }
        }
        do {
            if try !related.used(by: query).isEmpty { query.related = related }
        } catch {
            throw Refusal(error.code == .unsupported ? .notImplemented : .badRequest, error.message)
        }
        if let computing {
            query.filter = .all(computing.filter, query.filter)
            query.order = computing.order
        }
        try select(paths, call)
    }

    /// Runs a parser; refuses unsupported syntax with 501 (OData 4.01 Protocol, section 9.3.1).
    private static func reading<Value>(_ name: String, _ body: () throws -> Value) throws -> Value {
        try ListParameters.reading(name, unsupported: .notImplemented, body)
    }

    /// Returns a search as a filter over the text properties.
    private static func search(_ text: String, _ set: EntitySet) throws -> QueryExpression? {
        let search = try Self.reading("$search") { try ODataOptions([(name: "$search", value: text)]).search }
        let texts = set.properties.filter { $0.type == .string && !$0.isJSON && $0.column != "id" }
        return search?.filter(
            for: TableSchema(set.table.name, columns: texts.map { TableSchema.Column($0.column, .string) }))
    }

    private static func levels(_ text: String) throws -> Int {
        if text.lowercased() == "max" { return deepest }
        let levels = try ListParameters.count("$levels", text)
        guard levels > 0 else { throw Refusal(.badRequest, "$levels is a number from 1, or max") }
        return min(levels, deepest)
    }

    /// Returns the option name of a parameter, without its `$`; nil for a custom parameter.
    private static func option(_ name: String, _ version: ServiceVersion, isNested: Bool) -> String? {
        let lower = name.lowercased()
        // SAP's servers write the token's name in this form.
        if lower == "!deltatoken" { return "deltatoken" }
        if lower.hasPrefix("$") { return String(lower.dropFirst()) }
        // OData 4.01 Protocol, section 11.2.1: the `$` may be omitted.
        return version == .v401 && names.contains(lower) ? lower : nil
    }

    private static func unquoted(_ text: String) -> String {
        text.count > 1 && text.hasPrefix("'") && text.hasSuffix("'") ? String(text.dropFirst().dropLast()) : text
    }

    // MARK: Selections

    /// Reads `$select`; returns the paths over a link, which v2 allows.
    private mutating func select(
        _ text: String, _ call: ServiceCall, _ set: EntitySet, _ table: TableRequest
    ) throws -> [(link: String, rest: String)] {
        var names: [PropertyName] = []
        var paths: [(link: String, rest: String)] = []
        var isAll = false
        for item in ODataList.split(text, by: ",") {
            if item == "*" || item.isEmpty {
                isAll = true
                continue
            }
            let sides = item.split(separator: "/", maxSplits: 1).map(String.init)
            if set.link(item) != nil { continue }
            if sides.count == 2, set.link(sides[0]) != nil {
                paths.append((sides[0], sides[1]))
                continue
            }
            let name = ODataName.decoded(item)
            if computed.contains(where: { $0.name == name }) {
                names.append(name)
                continue
            }
            let isKnown = set.property(of: name) != nil || (call.version != .v2 && !item.contains("/"))
            guard isKnown, table.column(name) != nil, !name.text.contains("@") else {
                let hint = NearestKey.suggestion(for: item, among: set.properties.map(\.name)) ?? ""
                throw Refusal(.badRequest, "$select: \(set.name) has no property \(item)\(hint)")
            }
            names.append(name)
        }
        if !isAll, !names.isEmpty || paths.isEmpty { selected = names }
        return paths
    }

    private mutating func select(_ paths: [(link: String, rest: String)], _ call: ServiceCall) throws {
        for (index, expansion) in expansions.enumerated() {
            let rests = paths.filter { $0.link == expansion.link.name }.map(\.rest)
            guard !rests.isEmpty, let target = call.model.set(expansion.link.target) else { continue }
            let deeper = try expansions[index].options.select(
                rests.joined(separator: ","), call, target, call.tableRequest(target))
            try expansions[index].options.select(deeper, call)
        }
    }

    // MARK: Expansions

    private static func expand(
        _ text: String, _ call: ServiceCall, _ set: EntitySet, _ depth: Int
    ) throws -> [Expansion] {
        guard depth < deepest else {
            throw Refusal(.badRequest, "$expand is nested deeper than \(deepest) levels")
        }
        var expansions: [Expansion] = []
        for item in ODataList.split(text, by: ",") where !item.isEmpty {
            if item == "*" {
                for link in set.links where !expansions.contains(where: { $0.link.name == link.name }) {
                    expansions.append(Expansion(link: link, options: QueryOptions(try target(of: link, call))))
                }
                continue
            }
            let (path, inner) = ODataList.call(item).map { ($0.name, $0.inner) } ?? (item, "")
            let steps = path.split(separator: "/").map(String.init)
            guard let name = steps.first, let link = set.link(name) else {
                let hint = NearestKey.suggestion(for: path, among: set.links.map(\.name)) ?? ""
                throw Refusal(.badRequest, "$expand: \(set.name) has no navigation property \(path)\(hint)")
            }
            let target = try target(of: link, call)
            var parameters = ODataList.split(inner, by: ";").filter { !$0.isEmpty }.map { part in
                let sides = part.split(separator: "=", maxSplits: 1).map(String.init)
                return (name: sides[0], value: sides.count > 1 ? sides[1] : "")
            }
            var form = Expansion.Form.entities
            switch steps.dropFirst().joined(separator: "/") {
            case "": break
            case "$ref": form = .references
            case "$count": form = .count
            // v2 nests expansions by paths.
            case let rest where call.version == .v2: parameters.append((name: "$expand", value: rest))
            default: throw Refusal(.badRequest, "$expand: \(path) is no path that can be expanded")
            }
            let options = try QueryOptions(call, target, parameters, depth: depth + 1)
            guard options.skipToken == nil, options.deltaToken == nil else {
                throw Refusal(.badRequest, "$expand has no tokens within")
            }
            if let index = expansions.firstIndex(where: { $0.link.name == name }) {
                // v2 lists both `a` and `a/b`.
                expansions[index].options.expansions += options.expansions
            } else {
                var expansion = Expansion(link: link, form: form, options: options)
                if options.levels > 1 { try expansion.repeatDownwards(in: target, depth: depth + 1) }
                expansions.append(expansion)
            }
        }
        guard expansions.count <= mostExpansions else {
            throw Refusal(.badRequest, "$expand names more than \(mostExpansions) properties")
        }
        return expansions
    }

    private static func target(of link: EntitySet.Link, _ call: ServiceCall) throws -> EntitySet {
        guard let set = call.model.set(link.target) else { throw Refusal(.notFound, "there is no set \(link.target)") }
        return set
    }

    /// Returns the columns to read: the selected ones, and those for links, tags and keys. Empty for all.
    func columns(_ set: EntitySet) -> [PropertyName] {
        guard let selected, computed.isEmpty else { return [] }
        var columns: [PropertyName] = ["id", SystemColumn.version, SystemColumn.updatedAt]
        if set.hasIntegerIDs { columns.append(SystemColumn.number) }
        for name in selected + set.referenceColumns where !columns.contains(name) { columns.append(name) }
        return columns
    }
}
