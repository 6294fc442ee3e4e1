// Operands, except for paths.
extension ODataParser {
    mutating func operand(level: Int) throws(TableQuery.SyntaxError) -> Part {
        scanner.skipSpace()
        let start = scanner.position
        guard let next = scanner.next else { throw scanner.error("expected a value, found the end") }
        switch next {
        case "(":
            _ = scanner.skip("(")
            let part = try nested(level)
            try scanner.expect(")")
            return part
        case "-": return try signed(level: level)
        case "+", "'", "0"..."9": return leaf(.literal(try scanner.literal(isBeforeColon: isInChoice)), at: start)
        case "[": return try list(level: level)
        case "{": return try object(level: level)
        case "$", "@": return try rootedPath(level: level)
        default: return try named(level: level)
        }
    }

    /// Reads an operand that begins with a name: a constant, an operator, a function, a property or a path.
    private mutating func named(level: Int) throws(TableQuery.SyntaxError) -> Part {
        let start = scanner.position
        guard let name = scanner.identifier() else {
            throw scanner.error("expected a value, found \(scanner.found)")
        }
        if let constant = Self.constant(name), scanner.next != "(", scanner.next != "/" {
            // v3 writes a truth value as a comparison where it is a condition.
            if case .bool = constant { return leaf(.literal(constant), at: start, size: 3) }
            return leaf(.literal(constant), at: start)
        }
        if name.utf8.count == 3, name.lowercased() == "not" { return try applied(.not, level: level, at: start) }
        if scanner.next == "'" {
            return leaf(.literal(try scanner.prefixedLiteral(name, at: start)), at: start)
        }
        if scanner.next == "." { return try qualified(name, level: level, at: start) }
        if scanner.next == "(" {
            let word = name.lowercased()
            if word == "case" || word == "cast" || word == "isof" || ODataFunctions.contains(word) {
                _ = scanner.skip("(")
                return switch word {
                case "case": try choice(level: level, at: start)
                case "cast": try cast(level: level, at: start)
                case "isof": try typed(.isof, level: level, at: start)
                default: try call(word, level: level, at: start)
                }
            }
        }
        return try path(from: name, level: level, at: start)
    }

    /// Reads an operand that begins with a dotted name: a function of `geo`, an enumeration's constant, or a path.
    private mutating func qualified(_ first: String, level: Int, at place: Int) throws(TableQuery.SyntaxError) -> Part {
        let name = try scanner.qualifiedName(first)
        if scanner.next == "'" {
            let value = try scanner.quoted()
            guard ODataScanner.isEnumeration(value) else {
                throw scanner.error("\"\(value)\" is no value of an enumeration", at: place)
            }
            return leaf(.literal(.enumeration(type: name, value: value)), at: place)
        }
        let word = name.lowercased()
        if word.hasPrefix("geo."), first.utf8.count == 3 {
            try scanner.expect("(")
            return try call(word, level: level, at: place)
        }
        return try path(fromQualified: name, level: level, at: place)
    }

    private static func constant(_ name: String) -> TableQuery.Literal? {
        guard (3...5).contains(name.utf8.count) else { return nil }
        switch name {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "INF": return .infinity(isNegative: false)
        case "NaN": return .notANumber
        default: break
        }
        return switch name.lowercased() {
        case "true": .bool(true)
        case "false": .bool(false)
        default: nil
        }
    }

    /// Reads an operand that begins with a minus: a number, or an operator on the next operand.
    private mutating func signed(level: Int) throws(TableQuery.SyntaxError) -> Part {
        let start = scanner
        _ = scanner.skip("-")
        if let next = scanner.next, ("0"..."9").contains(next) {
            scanner = start
            return leaf(.literal(try scanner.literal(isBeforeColon: isInChoice)), at: start.position)
        }
        if scanner.skip(word: "INF") { return leaf(.literal(.infinity(isNegative: true)), at: start.position) }
        return try applied(.negate, level: level, at: start.position)
    }

    private mutating func applied(
        _ operation: QueryExpression.UnaryOperator, level: Int, at place: Int
    ) throws(TableQuery.SyntaxError) -> Part {
        scanner.skipSpace()
        // A parenthesis counts as a level itself.
        let inner = scanner.next == "(" ? level : level + 1
        guard inner <= maximumDepth else { throw tooDeep(at: place) }
        let operand = try operand(level: inner)
        return try part(.unary(operation, operand.expression), of: [operand], at: place)
    }

    /// Reads a function's call, after its opening parenthesis.
    private mutating func call(_ name: String, level: Int, at place: Int) throws(TableQuery.SyntaxError) -> Part {
        guard let function = ODataFunctions.named(name) else {
            throw scanner.error("there is no function \"\(name)\"", at: place)
        }
        var arguments: [Part] = []
        scanner.skipSpace()
        if scanner.next != ")" {
            repeat {
                arguments.append(try nested(level))
                scanner.skipSpace()
            } while scanner.skip(",")
        }
        try scanner.expect(")")
        if let mistake = QueryFunctions.countMistake(function, arguments.count, called: name) {
            throw scanner.error(mistake, at: place)
        }
        // v3 names the part first.
        if name == "substringof" { arguments.reverse() }
        return try part(.call(function, arguments.map(\.expression)), of: arguments, at: place)
    }

    /// Reads `case(X gt 0:1,true:0)`, after its opening parenthesis.
    private mutating func choice(level: Int, at place: Int) throws(TableQuery.SyntaxError) -> Part {
        var parts: [Part] = []
        let wasInChoice = isInChoice
        isInChoice = true
        defer { isInChoice = wasInChoice }
        repeat {
            parts.append(try nested(level))
            try scanner.expect(":")
            parts.append(try nested(level))
            scanner.skipSpace()
        } while scanner.skip(",")
        try scanner.expect(")")
        let choices = stride(from: 0, to: parts.count, by: 2).map { index in
            TableQuery.Choice(when: parts[index].expression, parts[index + 1].expression)
        }
        return try part(.choice(choices), of: parts, at: place)
    }

    /// Reads `cast(x,Edm.String)` and `cast(Model.Type)`, after the parenthesis; a constant with an Edm type is that
    /// constant.
    private mutating func cast(level: Int, at place: Int) throws(TableQuery.SyntaxError) -> Part {
        let start = scanner
        scanner.skipSpace()
        if let next = scanner.next, next == "'" || next == "-" || ("0"..."9").contains(next) || next == "+" {
            if let literal = try scanner.castLiteral(at: place) { return leaf(.literal(literal), at: place) }
        } else if let word = scanner.identifier(), Self.constant(word) != nil {
            scanner = start
            if let literal = try scanner.castLiteral(at: place) { return leaf(.literal(literal), at: place) }
        }
        scanner = start
        return try typed(.cast, level: level, at: place)
    }

    private mutating func typed(
        _ operation: QueryExpression.TypeOperator, level: Int, at place: Int
    ) throws(TableQuery.SyntaxError) -> Part {
        let start = scanner
        scanner.skipSpace()
        if let type = scanner.typeName() {
            scanner.skipSpace()
            if scanner.skip(")") { return leaf(.typed(operation, nil, type), at: place) }
        }
        scanner = start
        let operand = try nested(level)
        try scanner.expect(",")
        scanner.skipSpace()
        guard let type = scanner.typeName() else { throw scanner.error("expected a type, found \(scanner.found)") }
        try scanner.expect(")")
        return try part(.typed(operation, operand.expression, type), of: [operand], at: place)
    }

    /// Reads `[a,"b",'c']`.
    mutating func list(level: Int) throws(TableQuery.SyntaxError) -> Part {
        let start = scanner.position
        _ = scanner.skip("[")
        var elements: [Part] = []
        scanner.skipSpace()
        if !scanner.skip("]") {
            repeat { elements.append(try element(level)) } while scanner.skip(",")
            try scanner.expect("]")
        }
        return try part(.list(elements.map(\.expression)), of: elements, at: start)
    }

    /// Reads `{"name":a,"other":"b"}`.
    private mutating func object(level: Int) throws(TableQuery.SyntaxError) -> Part {
        let start = scanner.position
        _ = scanner.skip("{")
        var names: [String] = []
        var values: [Part] = []
        scanner.skipSpace()
        if !scanner.skip("}") {
            repeat {
                scanner.skipSpace()
                names.append(try scanner.jsonString())
                try scanner.expect(":")
                values.append(try element(level))
            } while scanner.skip(",")
            try scanner.expect("}")
        }
        let members = zip(names, values).map { TableQuery.Argument($0, $1.expression) }
        return try part(.object(members), of: values, at: start)
    }

    /// Reads a value in a list or an object, where JSON strings are allowed.
    private mutating func element(_ level: Int) throws(TableQuery.SyntaxError) -> Part {
        scanner.skipSpace()
        let start = scanner.position
        let part =
            scanner.next == "\"" ? leaf(.literal(.string(try scanner.jsonString())), at: start) : try nested(level)
        scanner.skipSpace()
        return part
    }
}

/// The functions by their names, in small letters, as texts of any version call them.
enum ODataFunctions {
    private static let byName: [String: TableQuery.Function] = {
        var byName: [String: TableQuery.Function] = ["substringof": .contains]
        for function in TableQuery.Function.allCases { byName[function.rawValue.lowercased()] = function }
        return byName
    }()

    static func named(_ name: String) -> TableQuery.Function? { byName[name] }
    static func contains(_ name: String) -> Bool { byName[name] != nil }
}
