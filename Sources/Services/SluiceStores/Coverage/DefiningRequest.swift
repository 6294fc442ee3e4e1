public import SluiceBase
internal import SluiceSync

/// A named read of one table that fills an offline store, and is kept up to date as a whole.
///
/// ```swift
/// let request = DefiningRequest(
///     "agencies", of: "Agencies", try ODataOptions("$filter=Country eq 'US'&$expand=Bookings"))
/// ```
///
/// The store holds the union of its defining requests' records. A row in several requests is stored once.
public struct DefiningRequest: Sendable, Hashable {
    /// The name, by which the request is refreshed, replaced and removed.
    public var name: String
    /// The table, or entity set, that is read.
    public var table: String
    /// The query options: `$filter`, `$select`, `$expand` and `$orderby`, and others that the server supports.
    public var options: ODataOptions

    /// Creates a read of a table.
    public init(_ name: String, of table: String, _ options: ODataOptions = ODataOptions()) {
        self.name = name
        self.table = table
        self.options = options
    }
}

extension DefiningRequest {
    /// Checks that the request can fill a store: with whole sets of records, perhaps filtered, and their linked
    /// records.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` or `invalidTable`.
    func validate(_ schemas: [String: TableSchema]) throws(SluiceError) {
        func refusal(_ reason: String) -> SluiceError {
            SluiceError(.invalidQuery, "the defining request \"\(name)\" \(reason)", table: table)
        }
        try SyncTables.validate(table)
        guard !name.isEmpty, name.unicodeScalars.count <= 100 else {
            throw SluiceError(.invalidQuery, "a defining request's name is 1 to 100 characters", table: table)
        }
        guard options.top == nil, options.skip == nil else {
            throw refusal("asks for a page; a store is filled with whole sets, so narrow it with $filter")
        }
        guard options.search == nil, options.apply.isEmpty, options.compute.isEmpty, options.index == nil,
            options.deltaToken == nil, options.skipToken == nil
        else { throw refusal("has options other than $filter, $select, $expand and $orderby") }
        guard !options.mentionsNow else { throw refusal("depends on when it is asked") }
        if options.filter != nil, !options.expand.isEmpty {
            _ = try TableQuery.Evaluator(TableQuery(table, filter: options.filter), schema: schemas[table])
        }
        try Self.validate(options.expand, of: table, schemas, depth: 0, refusal)
    }

    private static func validate(
        _ items: [ODataOptions.ExpandItem], of table: String, _ schemas: [String: TableSchema], depth: Int,
        _ refusal: (String) -> SluiceError
    ) throws(SluiceError) {
        guard depth < 5 else { throw refusal("expands deeper than 5 levels") }
        guard Set(items.map(\.path)).count == items.count else { throw refusal("expands a property twice") }
        for item in items {
            guard let name = item.name, item.part == .records else {
                throw refusal("expands \(item.odata), and only records along navigation properties are downloaded")
            }
            guard let reference = schemas[table]?.reference(name) else {
                throw refusal("expands \(name), which is no declared reference of \(table)")
            }
            let options = item.options
            guard options.top == nil, options.skip == nil, options.search == nil, options.apply.isEmpty,
                options.compute.isEmpty
            else { throw refusal("expands a part of \(name) that only the service knows") }
            if options.filter != nil {
                _ = try TableQuery.Evaluator(
                    TableQuery(reference.table, filter: options.filter), schema: schemas[reference.table])
            }
            try validate(options.expand, of: reference.table, schemas, depth: depth + 1, refusal)
        }
    }
}

/// The answer whether a local store filled by defining requests can answer a request completely, with the reasons.
///
/// ```swift
/// let checker = CoverageChecker(requests, schemas: [agencies, bookings])
/// let coverage = checker.coverage(of: try ODataOptions("$filter=Country eq 'US' and Rank gt 3"), in: "Agencies")
/// print(coverage)   // covered: every record that is asked for is in "agencies"
/// ```
public enum Coverage: Sendable, Hashable, CustomStringConvertible {
    /// Every record of the answer is in the store, and no other is found. The names are those of the defining requests
    /// that the proof needs, the texts are the proof.
    case covered(by: [String], because: [String])
    /// Completeness cannot be proved. The texts name the missing parts; the example, if there is one, describes a
    /// requested record that no defining request is certain to bring.
    case uncovered(because: [String], example: String?)

    /// Whether the local store has the whole answer.
    public var isCovered: Bool {
        if case .covered = self { true } else { false }
    }

    /// The reasons, each one sentence, and the example.
    var reasons: [String] {
        switch self {
        case .covered(_, let reasons): reasons
        case .uncovered(let reasons, let example): reasons + (example.map { ["for example where \($0)"] } ?? [])
        }
    }

    /// The result and its reasons, in one line.
    public var description: String {
        switch self {
        case .covered(_, let reasons): "covered: \(reasons.joined(separator: "; "))"
        case .uncovered(let reasons, let example):
            "not covered: \(reasons.joined(separator: "; "))" + (example.map { "; for example where \($0)" } ?? "")
        }
    }
}
