// The values of the query options. Each is read from the scanner's position to its end.
extension ODataParser {
    /// The position of query options.
    enum OptionPlace {
        /// In the request.
        case request
        /// After an item of `$select`, after one of `$expand`, and after `/$ref`, `/$count` and `*` there.
        case select, expand, references, count, all

        var names: Set<String> {
            let paged: Set = ["filter", "orderby", "skip", "top", "count", "search"]
            return switch self {
            case .request, .select: paged.union(["select", "expand", "compute", "apply"])
            case .expand: paged.union(["select", "expand", "compute", "apply", "levels"])
            case .references: paged
            case .count: ["filter", "search"]
            case .all: ["levels"]
            }
        }
    }

    /// Reads the value of the option with that name, which is in small letters.
    mutating func option(
        _ name: String, into options: inout ODataOptions, isNested: Bool, level: Int
    ) throws(TableQuery.SyntaxError) {
        switch name {
        case "filter": options.filter = try nested(level).expression
        case "search": options.search = try search(isNested: isNested)
        case "orderby": options.order = try order(level: level).map(\.key)
        case "select": options.select = try select(level: level)
        case "expand": options.expand = try expand(level: level)
        case "compute": options.compute = try compute(level: level)
        case "apply": options.apply = try transformations(level: level)
        case "top": options.top = try wholeNumber()
        case "skip": options.skip = try wholeNumber()
        case "count":
            if scanner.skip(caseBlind: "true") {
                options.count = true
            } else if scanner.skip(caseBlind: "false") {
                options.count = false
            } else {
                throw scanner.error("expected true or false, found \(scanner.found)")
            }
        case "levels": options.levels = scanner.skip(caseBlind: "max") ? .max : .times(try wholeNumber())
        default: throw scanner.error("there is no query option $\(name)")
        }
    }

    /// Reads a number without a sign and without leading zeros.
    mutating func wholeNumber() throws(TableQuery.SyntaxError) -> Int {
        let start = scanner.position
        let digits = scanner.run { ("0"..."9").contains($0) }
        guard let number = Int(digits) else {
            throw scanner.error("expected a number, found \(scanner.found)", at: start)
        }
        guard digits == String(number) else { throw scanner.error("the number begins with a zero", at: start + 1) }
        return number
    }

    /// Reads `$orderby`, and the positions of its keys.
    mutating func order(level: Int) throws(TableQuery.SyntaxError) -> [(key: TableQuery.SortKey, places: ODataPlaces)] {
        var keys: [(key: TableQuery.SortKey, places: ODataPlaces)] = []
        repeat {
            scanner.skipSpace()
            let start = scanner.position
            let part = try nested(level)
            switch part.expression {
            case .literal, .membership(_, []): throw scanner.error("expected something to sort by", at: start)
            default: break
            }
            scanner.skipSpace()
            let isDescending = scanner.skip(caseBlind: "desc")
            if !isDescending { _ = scanner.skip(caseBlind: "asc") }
            keys.append((TableQuery.SortKey(expression: part.expression, descending: isDescending), part.places))
            scanner.skipSpace()
        } while scanner.skip(",")
        return keys
    }

    /// Reads `$compute`.
    mutating func compute(level: Int) throws(TableQuery.SyntaxError) -> [ODataOptions.ComputedProperty] {
        var properties: [ODataOptions.ComputedProperty] = []
        repeat {
            let part = try nested(level)
            properties.append(ODataOptions.ComputedProperty(part.expression, as: try alias()))
            scanner.skipSpace()
        } while scanner.skip(",")
        return properties
    }

    /// Reads `as Name`.
    mutating func alias() throws(TableQuery.SyntaxError) -> PropertyName {
        scanner.skipSpace()
        guard scanner.skip(caseBlind: "as") else { throw scanner.error("expected \"as\", found \(scanner.found)") }
        scanner.skipSpace()
        guard let name = scanner.identifier() else { throw scanner.error("expected a name, found \(scanner.found)") }
        return ODataName.decoded(name)
    }

    /// Reads `$select`.
    mutating func select(level: Int) throws(TableQuery.SyntaxError) -> [ODataOptions.SelectItem] {
        var items: [ODataOptions.SelectItem] = []
        repeat {
            scanner.skipSpace()
            var item = ODataOptions.SelectItem(path: try selectPath())
            if scanner.next == "(" {
                let start = scanner
                if case .type(let name)? = item.path.last, let names = parameterNames() {
                    item.path[item.path.count - 1] = .function(name, names)
                } else if case .property(let name)? = item.path.last, let names = parameterNames() {
                    item.path[item.path.count - 1] = .function(name.text, names)
                } else {
                    scanner = start
                    item.options = try options(in: .select, level: level)
                }
            }
            items.append(item)
            scanner.skipSpace()
        } while scanner.skip(",")
        return items
    }

    /// Reads `$expand`.
    mutating func expand(level: Int) throws(TableQuery.SyntaxError) -> [ODataOptions.ExpandItem] {
        var items: [ODataOptions.ExpandItem] = []
        repeat {
            scanner.skipSpace()
            var item = ODataOptions.ExpandItem(path: try selectPath())
            var place = item.path.last == .all ? OptionPlace.all : .expand
            let start = scanner
            if scanner.skip("/"), scanner.skip("$") {
                switch scanner.identifier() {
                case "ref": (item.part, place) = (.references, .references)
                case "count": (item.part, place) = (.count, .count)
                default: throw scanner.error("expected $ref or $count", at: start.position)
                }
            }
            if scanner.next == "(", !(item.part == .references && item.path.last == .all) {
                item.options = try options(in: place, level: level)
            }
            items.append(item)
            scanner.skipSpace()
        } while scanner.skip(",")
        return items
    }

    /// Reads `(a,b)`, the names of a function's parameters; nil for anything else in the parentheses.
    private mutating func parameterNames() -> [String]? {
        guard scanner.skip("(") else { return nil }
        var names: [String] = []
        repeat {
            guard let name = scanner.identifier() else { return nil }
            names.append(name)
        } while scanner.skip(",")
        return scanner.skip(")") ? names : nil
    }

    /// Reads a path of `$select` or `$expand`, up to `/$ref`, `/$count` or options in parentheses.
    private mutating func selectPath() throws(TableQuery.SyntaxError) -> [ODataOptions.SelectStep] {
        if scanner.skip("$") {
            guard scanner.skip(word: "value") else { throw scanner.error("expected $value") }
            return [.stream]
        }
        var path: [ODataOptions.SelectStep] = []
        while true {
            if scanner.skip("*") { return path + [.all] }
            if scanner.skip("@") {
                guard let first = scanner.identifier() else {
                    throw scanner.error("expected a name, found \(scanner.found)")
                }
                path.append(.annotation(try scanner.annotation(first)))
            } else {
                let place = scanner.position
                guard let name = scanner.identifier() else {
                    throw scanner.error("expected a property's name, found \(scanner.found)")
                }
                if scanner.next == "." {
                    path.append(try qualifiedStep(name))
                } else {
                    path.append(
                        .property(
                            path.isEmpty ? try scanner.column(name, columns, at: place) : ODataName.decoded(name)))
                }
            }
            let start = scanner
            guard scanner.skip("/"), scanner.next != "$" else {
                scanner = start
                return path
            }
        }
    }

    private mutating func qualifiedStep(_ first: String) throws(TableQuery.SyntaxError) -> ODataOptions.SelectStep {
        var name = first
        while scanner.skip(".") {
            if scanner.skip("*") { return .operations(name) }
            guard let part = scanner.identifier() else {
                throw scanner.error("expected a name, found \(scanner.found)")
            }
            name += "." + part
        }
        return .type(name)
    }

    /// Reads `($filter=…;$top=5)`: the options of an item.
    private mutating func options(in place: OptionPlace, level: Int) throws(TableQuery.SyntaxError) -> ODataOptions {
        guard level < maximumDepth else { throw tooDeep(at: scanner.position) }
        _ = scanner.skip("(")
        let scopes = (aliases, columns)
        columns = { $0 }
        defer { (aliases, columns) = scopes }
        var options = ODataOptions()
        var seen: Set<String> = []
        // Aliases may be defined before or after their use.
        aliases = ODataAliases(nestedAliases(), outer: aliases)
        repeat {
            scanner.skipSpace()
            let start = scanner.position
            if scanner.skip("@") {
                guard let name = scanner.identifier(), scanner.skip("=") else {
                    throw scanner.error("expected an alias and its value", at: start)
                }
                options.aliases[PropertyName(name)] = try nested(level + 1).expression
            } else {
                let name = try scanner.optionName()
                guard place.names.contains(name) else {
                    throw scanner.error("the query option $\(name) may not stand here", at: start)
                }
                guard seen.insert(name).inserted else { throw scanner.error("$\(name) is given twice", at: start) }
                try option(name, into: &options, isNested: true, level: level + 1)
            }
            scanner.skipSpace()
        } while scanner.skip(";")
        try scanner.expect(")")
        return options
    }

    /// Returns the aliases of the options in these parentheses, unread.
    private func nestedAliases() -> [PropertyName: ODataScanner] {
        var ahead = self
        var texts: [PropertyName: ODataScanner] = [:]
        var isStart = true
        while !ahead.scanner.atEnd {
            if isStart, ahead.scanner.skip("@"), let name = ahead.scanner.identifier(), ahead.scanner.skip("=") {
                let start = ahead.scanner.position
                guard ahead.skipOption() else { break }
                let text = ahead.scanner.text(from: start, to: ahead.scanner.position)
                texts[PropertyName(name)] = try? ODataScanner(text, maximumLength: .max)
            } else if !ahead.skipOption() {
                break
            }
            isStart = ahead.scanner.skip(";")
            if !isStart { break }
        }
        return texts
    }

    /// Skips an option's text, up to the `;` or `)` after it. Returns false if neither is there.
    private mutating func skipOption() -> Bool {
        var depth = 0
        while let next = scanner.next {
            switch next {
            case "'": if (try? scanner.quoted()) == nil { return false } else { continue }
            case "\"": if (try? scanner.jsonString()) == nil { return false } else { continue }
            case "(", "[", "{": depth += 1
            case ")" where depth == 0: return true
            case ";" where depth == 0 && !scanner.isMasked: return true
            case ")", "]", "}": depth -= 1
            default: break
            }
            scanner.skipAny()
        }
        return false
    }
}
