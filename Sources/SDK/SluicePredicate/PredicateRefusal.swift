internal import SluiceCore

/// Reports the parts of a predicate that queries cannot express.
enum PredicateRefusal {
    /// The names in Swift of the constructs that `#Predicate` supports and queries do not.
    private static let constructs = [
        "Conditional": "a choice (?: or if)",
        "ConditionalCast": "as?", "ForceCast": "as!", "TypeCheck": "is",
        "SequenceContainsWhere": "contains(where:)", "SequenceAllSatisfy": "allSatisfy(_:)",
        "SequenceMaximum": "max()", "SequenceMinimum": "min()", "Filter": "filter(_:)",
        "CollectionIndexSubscript": "an element of a collection", "CollectionRangeSubscript": "a part of a collection",
        "DictionaryKeySubscript": "an element of a dictionary",
        "DictionaryKeyDefaultValueSubscript": "an element of a dictionary",
        "StringContainsRegex": "a regular expression",
        "PredicateEvaluate": "another predicate's evaluate(_:); give both to the query, one `where` each",
        "ExpressionEvaluate": "an #Expression's evaluate(_:)",
        "StringLocalizedStandardContains": "localizedStandardContains(_:), which depends on a locale",
        "StringLocalizedCompare": "localizedCompare(_:), which depends on a locale",
        "StringCaseInsensitiveCompare": "caseInsensitiveCompare(_:)",
    ]

    /// Returns the refusal of a type of expressions.
    static func error(of type: Any.Type) -> SluiceError {
        // `PredicateExpressions.Filter<…>`, with or without its module.
        let path = String(describing: type).prefix { $0 != "<" }
        let name = path.split(separator: ".").last.map(String.init) ?? String(path)
        return error(constructs[name] ?? "PredicateExpressions.\(name)")
    }

    /// Returns the refusal of a key path that is not the record's.
    static func error(of path: AnyKeyPath) -> SluiceError {
        // Swift knows no names of computed properties.
        let description = String(describing: path)
        guard description.contains("<computed") else { return error(description) }
        return error("a computed property of \(type(of: path).rootType)")
    }

    static func error(_ construct: String) -> SluiceError {
        SluiceError(.invalidQuery, "a query cannot say what the predicate says with \(construct)")
    }
}
