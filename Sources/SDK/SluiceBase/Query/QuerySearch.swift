/// The condition of `$search` on a record's texts. (OData v4.01 part 2, 5.1.7.)
public indirect enum QuerySearch: Sendable, Hashable {
    /// A search term, or several terms in this order, taken literally.
    case phrase(String)
    /// Records that do not match.
    case not(QuerySearch)
    /// Records that match both.
    case and(QuerySearch, QuerySearch)
    /// Records that match either.
    case or(QuerySearch, QuerySearch)
}

extension QuerySearch {
    /// Returns whether the texts of a record match: a term or a phrase is found in one of them, in any case of the
    /// letters.
    ///
    /// Only properties with text values count; for an element that is itself a text, that text.
    public func matches(_ record: JSON) -> Bool {
        var texts = record.members?.compactMap { $0.value.string } ?? []
        if let text = record.string { texts.append(text) }
        return matches(texts.map { $0.lowercased() })
    }

    private func matches(_ texts: [String]) -> Bool {
        switch self {
        case .phrase(let phrase):
            let wanted = QueryValue.string(phrase.lowercased())
            return texts.contains { QueryFunctions.value(of: .contains, [.string($0), wanted]).bool == true }
        case .not(let search): return !search.matches(texts)
        case .and(let left, let right): return left.matches(texts) && right.matches(texts)
        case .or(let left, let right): return left.matches(texts) || right.matches(texts)
        }
    }

    /// Returns the search as a filter over the declared text columns, which every store can run.
    public func filter(for schema: TableSchema) -> QueryExpression {
        filter(over: schema.columns.filter { $0.type == .string }.map(\.name) + ["id"])
    }

    private func filter(over names: [PropertyName]) -> QueryExpression {
        switch self {
        case .phrase(let phrase):
            let wanted = QueryExpression.literal(.string(phrase.lowercased()))
            // A null property does not contain the phrase: the comparison makes that false instead of null.
            let terms = names.map { name in
                QueryExpression.binary(
                    .eq, .call(.contains, [.call(.tolower, [.column(name)]), wanted]), .literal(.bool(true)))
            }
            return terms.dropFirst().reduce(terms[0]) { .binary(.or, $0, $1) }
        case .not(let search): return .unary(.not, search.filter(over: names))
        case .and(let left, let right): return .binary(.and, left.filter(over: names), right.filter(over: names))
        case .or(let left, let right): return .binary(.or, left.filter(over: names), right.filter(over: names))
        }
    }
}
