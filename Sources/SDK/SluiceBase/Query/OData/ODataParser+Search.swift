// `$search`. (OData v4.01 part 2, 5.1.7 and its ABNF.)
extension ODataParser {
    /// Reads the value of `$search`. Inside another option's parentheses it ends before a `;` or their end.
    mutating func search(isNested: Bool) throws(TableQuery.SyntaxError) -> QuerySearch {
        if let text = unfinishedSearch(isNested: isNested) { return .phrase(text) }
        let search = try alternatives(1, isNested)
        scanner.skipSpace()
        if isNested ? scanner.next == ")" || isSeparator : scanner.atEnd { return search }
        throw scanner.error("expected a word or the end, found \(scanner.found)")
    }

    /// Reads a text in single quotes, which may be no search expression: an unfinished input of a user.
    private mutating func unfinishedSearch(isNested: Bool) -> String? {
        let start = scanner
        if scanner.skip("'") {
            var end = scanner.position
            var hasEnd = false
            while let next = scanner.next {
                if next == "'" {
                    hasEnd = true
                    end = scanner.position
                    if isNested { break }
                }
                scanner.skipAny()
            }
            if hasEnd {
                let text = scanner.text(from: start.position + 1, to: end)
                if isNested { scanner.skipAny() }
                let isWhole = isNested || end == scanner.position - 1
                if isWhole && !text.isEmpty { return text }
            }
        }
        scanner = start
        return nil
    }

    private mutating func alternatives(_ level: Int, _ isNested: Bool) throws(TableQuery.SyntaxError) -> QuerySearch {
        var terms = [try conjunction(level, isNested)]
        while skip(operator: "OR") { terms.append(try conjunction(level, isNested)) }
        return Self.balanced(terms[...]) { .or($0, $1) }
    }

    private mutating func conjunction(_ level: Int, _ isNested: Bool) throws(TableQuery.SyntaxError) -> QuerySearch {
        var terms = [try term(level, isNested)]
        while true {
            if !skip(operator: "AND") {
                var ahead = self
                let isOr = ahead.skip(operator: "OR")
                let start = scanner
                scanner.skipSpace()
                // Adjacent terms must both be found.
                guard scanner.position > start.position, beginsTerm, !isOr else {
                    scanner = start
                    return Self.balanced(terms[...]) { .and($0, $1) }
                }
            }
            terms.append(try term(level, isNested))
        }
    }

    private mutating func term(_ level: Int, _ isNested: Bool) throws(TableQuery.SyntaxError) -> QuerySearch {
        guard level <= maximumDepth else { throw tooDeep(at: scanner.position) }
        scanner.skipSpace()
        if skip(operator: "NOT") { return .not(try term(level + 1, isNested)) }
        let start = scanner.position
        if scanner.skip("(") {
            let inner = try alternatives(level + 1, isNested)
            try scanner.expect(")")
            return inner
        }
        if scanner.skip("\"") {
            var phrase = String.UnicodeScalarView()
            while let next = scanner.next, next != "\"" {
                scanner.skipAny()
                if next == "\\", let escaped = scanner.next {
                    scanner.skipAny()
                    phrase.append(escaped)
                } else {
                    phrase.append(next)
                }
            }
            guard scanner.skip("\"") else { throw scanner.error("the phrase does not end", at: scanner.position) }
            let isEnd = scanner.atEnd || isSeparator || [" ", "\t", ")"].contains(scanner.next)
            guard isEnd else { throw scanner.error("expected a space after the phrase") }
            return .phrase(String(phrase))
        }
        let word = scanner.word { Self.isPartOfWord($0) }
        guard !word.isEmpty else { throw scanner.error("expected a word, found \(scanner.found)", at: start) }
        return .phrase(word)
    }

    private static func isPartOfWord(_ scanner: ODataScanner) -> Bool {
        guard let next = scanner.next else { return false }
        switch next {
        case " ", "\t", "\"", "(", ")": return false
        case ";", "#", "&": return scanner.isMasked
        default: return true
        }
    }

    private var isSeparator: Bool { scanner.next == ";" && !scanner.isMasked }

    private var beginsTerm: Bool {
        scanner.next == "(" || scanner.next == "\"" || Self.isPartOfWord(scanner)
    }

    /// Skips an operator: its name between spaces, before a term. Elsewhere it is a plain search term.
    private mutating func skip(operator name: String) -> Bool {
        let start = scanner
        if name != "NOT" {
            scanner.skipSpace()
            guard scanner.position > start.position else { return false }
        }
        let word = scanner.word { Self.isPartOfWord($0) }
        let end = scanner.position
        scanner.skipSpace()
        if word == name, scanner.position > end, beginsTerm { return true }
        scanner = start
        return false
    }

    private static func balanced(
        _ terms: ArraySlice<QuerySearch>, _ joined: (QuerySearch, QuerySearch) -> QuerySearch
    ) -> QuerySearch {
        if terms.count == 1, let only = terms.first { return only }
        let middle = terms.startIndex + (terms.count + 1) / 2
        return joined(balanced(terms[..<middle], joined), balanced(terms[middle...], joined))
    }
}

extension ODataScanner {
    /// Reads characters while `belongs` accepts the scanner's position.
    mutating func word(_ belongs: (ODataScanner) -> Bool) -> String {
        let start = position
        while belongs(self) { skipAny() }
        return text(from: start, to: position)
    }
}
