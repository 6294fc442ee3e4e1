extension ODataOptions {
    /// Reads the part of a URL after the `?`, percent-encoded as it is there.
    ///
    /// Names of options may be in any case, and without their `$`. A valid option may still not be run by every store
    /// and server: see docs/queries.md.
    ///
    /// - Parameters:
    ///   - query: the text, of at most 64 KB.
    ///   - columns: maps the names in the text to columns; nil for an unknown name.
    /// - Throws: ``TableQuery.SyntaxError`` with the place in the option's value, and the option's name in the reason.
    public init(_ query: String) throws(TableQuery.SyntaxError) { try self.init(query, columns: { $0 }) }

    package init(_ query: String, columns: @escaping ODataColumns) throws(TableQuery.SyntaxError) {
        guard query.utf8.count <= Self.maximumLength else {
            throw TableQuery.SyntaxError(
                reason: "the query options are longer than \(Self.maximumLength) bytes", position: 0)
        }
        if let place = query.unicodeScalars.firstIndex(of: "#") {
            let position = query.unicodeScalars.distance(from: query.unicodeScalars.startIndex, to: place)
            throw TableQuery.SyntaxError(reason: "expected an option, found \"#\"", position: position)
        }
        var pairs: [(name: String, value: ODataScanner, text: String)] = []
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = PercentDecoded(parts[0]).text
            let value = PercentDecoded(parts.dropFirst().joined())
            if parts.count == 1, Self.isSystem(name) {
                throw TableQuery.SyntaxError(reason: "\(name): expected \"=\"", position: 0)
            }
            pairs.append(
                (name, try ODataScanner(value.text, maximumLength: .max, masked: value.separators), value.text))
        }
        try self.init(pairs, columns)
    }

    /// Reads decoded options.
    package init(
        _ parameters: [(name: String, value: String)], columns: @escaping ODataColumns = { $0 }
    ) throws(TableQuery.SyntaxError) {
        var pairs: [(name: String, value: ODataScanner, text: String)] = []
        for (name, value) in parameters {
            pairs.append((name, try ODataScanner(value, maximumLength: Self.maximumLength), value))
        }
        try self.init(pairs, columns)
    }

    private init(
        _ pairs: [(name: String, value: ODataScanner, text: String)], _ columns: @escaping ODataColumns
    ) throws(TableQuery.SyntaxError) {
        self.init()
        var texts: [PropertyName: ODataScanner] = [:]
        for pair in pairs where pair.name.hasPrefix("@") {
            texts[PropertyName(String(pair.name.dropFirst()))] = pair.value
        }
        let aliases = ODataAliases(texts)
        var seen: Set<String> = []
        for (name, value, text) in pairs {
            do throws(TableQuery.SyntaxError) {
                var parser = ODataParser(scanner: value, maximumDepth: QueryChecker.maximumDepth, columns: columns)
                parser.aliases = aliases
                if name.hasPrefix("@") {
                    let alias = PropertyName(String(name.dropFirst()))
                    guard let value = try aliases.value(of: alias, parser, at: 0) else { continue }
                    self.aliases[alias] = value.expression
                    continue
                }
                let option = name.lowercased()
                let system = Self.systemName(option)
                guard let system else {
                    if name.hasPrefix("$") { throw parser.scanner.error("there is no such query option", at: 0) }
                    guard !name.isEmpty, Self.isName(name) else { throw parser.scanner.error("this is no name", at: 0) }
                    custom.append(Custom(name: name, value: text))
                    continue
                }
                guard seen.insert(system).inserted || system == "format" else {
                    throw parser.scanner.error("the option is given twice", at: 0)
                }
                try read(system, text, &parser)
            } catch {
                throw TableQuery.SyntaxError(
                    reason: "\(name): \(error.reason)", position: error.position, isUnsupported: error.isUnsupported)
            }
        }
    }

    private mutating func read(
        _ option: String, _ text: String, _ parser: inout ODataParser
    ) throws(TableQuery.SyntaxError) {
        switch option {
        case "format": format = text
        case "skiptoken": skipToken = text
        case "deltatoken": deltaToken = text
        case "schemaversion": schemaVersion = text
        case "id": id = text
        case "inlinecount":
            guard let counts = ["allpages": true, "none": false][text.lowercased()] else {
                throw parser.scanner.error("expected allpages or none")
            }
            count = counts
        case "index":
            guard let number = Int(text) else { throw parser.scanner.error("expected a number") }
            index = number
        default:
            guard parser.scanner.next != " " else { throw parser.scanner.error("expected a value, found a space") }
            try parser.option(option, into: &self, isNested: false, level: 0)
            try parser.expectEnd("the end")
        }
    }

    /// The longest accepted text of options, in bytes.
    package static let maximumLength = 65_536

    private static let systemNames: Set<String> = [
        "filter", "search", "orderby", "select", "expand", "compute", "apply", "top", "skip", "count", "inlinecount",
        "format", "skiptoken", "deltatoken", "schemaversion", "id", "index",
    ]

    private static func systemName(_ option: String) -> String? {
        let name = option.hasPrefix("$") ? String(option.dropFirst()) : option
        return systemNames.contains(name) ? name : nil
    }

    private static func isSystem(_ name: String) -> Bool { name.hasPrefix("$") || systemName(name.lowercased()) != nil }

    /// Returns whether a service may have an option of its own with that name.
    private static func isName(_ name: String) -> Bool { !name.unicodeScalars.contains { $0 == " " || $0 == "\t" } }
}

/// A text with its percent escapes replaced, and the positions at which an escape was a character that separates
/// options.
private struct PercentDecoded {
    private(set) var text: String
    private(set) var separators: Set<Int> = []

    init(_ encoded: some Sequence<UInt8>) {
        var bytes: [UInt8] = []
        var count = 0
        var rest = Array(encoded)[...]
        while let byte = rest.first {
            rest = rest.dropFirst()
            var decoded = byte
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy({ $0 != UInt8(ascii: "+") }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                decoded = value
                rest = rest.dropFirst(2)
                if ";#&".utf8.contains(value) { separators.insert(count) }
            }
            bytes.append(decoded)
            if decoded & 0xC0 != 0x80 { count += 1 }
        }
        text = String(decoding: bytes, as: UTF8.self)
    }
}
