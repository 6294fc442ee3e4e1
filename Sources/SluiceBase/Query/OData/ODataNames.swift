// Names of types, annotations and options, and JSON's strings.
extension ODataScanner {
    /// A name of which the first part was read, with the others and their dots.
    mutating func qualifiedName(_ first: String) throws(QuerySyntaxError) -> String {
        var name = first
        while skip(".") {
            guard let part = identifier() else { throw error("expected a name, found \(found)") }
            name += "." + part
        }
        return name
    }

    /// An annotation's name of which the first part was read, with its qualifier.
    mutating func annotation(_ first: String) throws(QuerySyntaxError) -> String {
        let name = try qualifiedName(first)
        guard skip("#") else { return name }
        guard let qualifier = identifier() else { throw error("expected a qualifier, found \(found)") }
        return name + "#" + qualifier
    }

    /// A type: `Edm.String`, `Model.Customer`, `Collection(Edm.String)`; the older versions put it in quotes. Nil if
    /// none is here.
    mutating func typeName() -> String? {
        let start = position
        let isQuoted = skip("'")
        if let first = identifier(), var name = try? qualifiedName(first) {
            if name == "Collection", skip("("), let first = identifier(), let element = try? qualifiedName(first),
                skip(")")
            {
                name = "Collection(\(element))"
            }
            if !isQuoted || skip("'") { return name }
        }
        goBack(to: start)
        return nil
    }

    /// The name of a query option in small letters, without its `$`, and the `=` after it.
    mutating func optionName() throws(QuerySyntaxError) -> String {
        _ = skip("$")
        guard let name = identifier() else { throw error("expected a query option, found \(found)") }
        guard skip("=") else { throw error("expected \"=\", found \(found)") }
        return name.lowercased()
    }

    /// A string of JSON.
    mutating func jsonString() throws(QuerySyntaxError) -> String {
        let start = position
        guard skip("\"") else { throw error("expected a text in double quotes, found \(found)") }
        while let character = next {
            skipAny()
            if character == "\\" { skipAny() }
            if character != "\"" { continue }
            guard let value = (try? JSON(parsing: text(from: start, to: position)))?.string else { break }
            return value
        }
        throw error("the text in double quotes is not one of JSON", at: start)
    }
}
