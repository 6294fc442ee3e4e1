/// Reads the tokens of an OData text.
struct ODataScanner {
    private let scalars: [Unicode.Scalar]
    private(set) var position = 0
    /// The positions of characters that do not separate, because they were percent-encoded.
    private let masked: Set<Int>

    /// - Throws: if the text is longer than `maximumLength` bytes.
    init(_ text: String, maximumLength: Int, masked: Set<Int> = []) throws(TableQuery.SyntaxError) {
        self.masked = masked
        guard text.utf8.count <= maximumLength else {
            throw TableQuery.SyntaxError(reason: "the text is longer than \(maximumLength) bytes", position: 0)
        }
        scalars = Array(text.unicodeScalars)
    }

    var atEnd: Bool { position == scalars.count }

    /// The next character; nil at the end.
    var next: Unicode.Scalar? { atEnd ? nil : scalars[position] }

    /// Whether the next character is plain text, even if it usually separates.
    var isMasked: Bool { masked.contains(position) }

    /// Returns the characters between two positions.
    func text(from start: Int, to end: Int) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars[start..<end])
        return String(text)
    }

    /// Skips the next character, of any kind.
    mutating func skipAny() { position = min(position + 1, scalars.count) }

    /// Returns to an earlier position.
    mutating func goBack(to place: Int) { position = min(max(0, place), position) }

    func error(_ reason: String, at place: Int? = nil) -> TableQuery.SyntaxError {
        TableQuery.SyntaxError(reason: reason, position: place ?? position)
    }

    func unsupported(_ reason: String, at place: Int? = nil) -> TableQuery.SyntaxError {
        TableQuery.SyntaxError(reason: reason, position: place ?? position, isUnsupported: true)
    }

    /// The next character, for an error about an unexpected one.
    var found: String { next.map { "\"\(String($0))\"" } ?? "the end" }

    mutating func skipSpace() {
        while let next, next == " " || next == "\t" { position += 1 }
    }

    /// Skips the character if it is next.
    mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        position += 1
        return true
    }

    /// Skips spaces and then the character, which must be next.
    mutating func expect(_ scalar: Unicode.Scalar) throws(TableQuery.SyntaxError) {
        skipSpace()
        guard skip(scalar) else { throw error("expected \"\(String(scalar))\", found \(found)") }
    }

    /// Skips the given name, which is in small letters, if it is next in any case and complete.
    mutating func skip(caseBlind word: String) -> Bool {
        let start = position
        if identifier()?.lowercased() == word { return true }
        position = start
        return false
    }

    /// Skips the given name if it is next and complete.
    mutating func skip(word: String) -> Bool {
        let start = position
        if identifier() == word { return true }
        position = start
        return false
    }

    /// Reads the characters that `belongs` accepts.
    mutating func run(_ belongs: (Unicode.Scalar) -> Bool) -> String {
        var run = String.UnicodeScalarView()
        while let next, belongs(next) {
            run.append(next)
            position += 1
        }
        return String(run)
    }

    /// Reads a name, or returns nil if none begins here. (OData ABNF, odataIdentifier: letters, digits and `_`, no
    /// digit first.)
    mutating func identifier() -> String? {
        guard let next, Self.beginsIdentifier(next) else { return nil }
        return run(Self.continuesIdentifier)
    }

    /// Reads the text in single quotes that begins here; a doubled quote in it is one quote.
    mutating func quoted() throws(TableQuery.SyntaxError) -> String {
        let start = position
        var text = String.UnicodeScalarView()
        guard skip("'") else { throw error("expected a text in quotes, found \(found)") }
        while let next {
            position += 1
            if next != "'" {
                text.append(next)
            } else if skip("'") {
                text.append("'")
            } else {
                return String(text)
            }
        }
        throw error("the text in quotes does not end", at: start)
    }

    static func beginsIdentifier(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII ? scalar == "_" || isLetter(scalar) : scalar.properties.isAlphabetic
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }

    static func continuesIdentifier(_ scalar: Unicode.Scalar) -> Bool {
        if beginsIdentifier(scalar) { return true }
        // Looking up properties is the slowest part of a scan, so ASCII, the usual case, goes without.
        if scalar.isASCII { return ("0"..."9").contains(scalar) }
        return switch scalar.properties.generalCategory {
        case .decimalNumber, .nonspacingMark, .spacingMark, .connectorPunctuation: true
        default: false
        }
    }
}

// Names of types, annotations and options, and JSON's strings.
extension ODataScanner {
    /// Reads the rest of a qualified name after its first part.
    mutating func qualifiedName(_ first: String) throws(TableQuery.SyntaxError) -> String {
        var name = first
        while skip(".") {
            guard let part = identifier() else { throw error("expected a name, found \(found)") }
            name += "." + part
        }
        return name
    }

    /// Reads the rest of an annotation's name after its first part, with its qualifier.
    mutating func annotation(_ first: String) throws(TableQuery.SyntaxError) -> String {
        let name = try qualifiedName(first)
        guard skip("#") else { return name }
        guard let qualifier = identifier() else { throw error("expected a qualifier, found \(found)") }
        return name + "#" + qualifier
    }

    /// Reads a type: `Edm.String`, `Model.Customer`, `Collection(Edm.String)`; older versions quote it. Returns nil if
    /// there is none.
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

    /// Reads the name of a query option and the `=` after it. Returns the name in small letters, without its `$`.
    mutating func optionName() throws(TableQuery.SyntaxError) -> String {
        _ = skip("$")
        guard let name = identifier() else { throw error("expected a query option, found \(found)") }
        guard skip("=") else { throw error("expected \"=\", found \(found)") }
        return name.lowercased()
    }

    /// Reads a JSON string.
    mutating func jsonString() throws(TableQuery.SyntaxError) -> String {
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
