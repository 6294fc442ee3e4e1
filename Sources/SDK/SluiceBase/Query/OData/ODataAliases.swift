/// The values of parameter aliases; each is read on first use.
final class ODataAliases {
    private let texts: [PropertyName: ODataScanner]
    /// The aliases of the enclosing options.
    private let outer: ODataAliases?
    private var values: [PropertyName: ODataParser.Part] = [:]
    /// The aliases being read: those that name each other in a circle have no value.
    private var reading: Set<PropertyName> = []

    init(_ texts: [PropertyName: ODataScanner], outer: ODataAliases? = nil) {
        self.texts = texts
        self.outer = outer
    }

    /// Takes the aliases from decoded parameters.
    convenience init(_ parameters: [(name: String, value: String)]) throws(TableQuery.SyntaxError) {
        var texts: [PropertyName: ODataScanner] = [:]
        for (name, value) in parameters where name.hasPrefix("@") {
            texts[PropertyName(String(name.dropFirst()))] = try ODataScanner(
                value, maximumLength: ODataOptions.maximumLength)
        }
        self.init(texts)
    }

    /// Returns the alias's value; nil if the request has none, or one with another meaning at this position.
    func value(
        of name: PropertyName, _ parser: ODataParser, at place: Int
    ) throws(TableQuery.SyntaxError) -> ODataParser.Part? {
        if let value = values[name] { return value }
        guard let scanner = texts[name] else {
            let value = try outer?.value(of: name, parser, at: place)
            return value?.expression.mentionsThis == true ? nil : value
        }
        guard reading.insert(name).inserted else {
            throw parser.scanner.error("the alias @\(name) is part of its own value", at: place)
        }
        defer { reading.remove(name) }
        // The value may be used at several positions, so it knows no variables.
        var reader = ODataParser(scanner: scanner, maximumDepth: parser.maximumDepth, columns: parser.columns)
        reader.aliases = self
        guard reading.count <= 16 else { throw reader.tooDeep(at: 0) }
        let value = try reader.expression()
        try reader.expectEnd("an operator or the end")
        values[name] = value
        return value
    }
}
