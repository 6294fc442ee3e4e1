// Paths. (OData v4.01 part 2, 5.1.1.14 and 5.1.1.15.)
extension ODataParser {
    /// A path being read: its steps and the parts inside them.
    private struct Trail {
        var path: TableQuery.Path
        var places: [ODataPlaces] = []
        var depth = 0
        var size = 0

        /// Adds a step that contains those parts.
        mutating func append(_ step: TableQuery.Path.Step, at place: Int, _ parts: [Part] = []) {
            path.steps.append(step)
            places.append(ODataPlaces(place: place, operands: parts.map(\.places)))
            depth = max(depth, parts.map(\.depth).max() ?? 0)
            size += parts.reduce(1) { $0 + $1.size }
        }
    }

    /// Reads a path that begins with that name: a property, a variable, or a path from one of them.
    mutating func path(from name: String, level: Int, at place: Int) throws(TableQuery.SyntaxError) -> Part {
        if variables.contains(PropertyName(name)) {
            return try rest(of: Trail(path: TableQuery.Path(.variable(PropertyName(name)), [])), level, at: place)
        }
        var trail = Trail(path: TableQuery.Path(.record, []))
        if scanner.next == "(" {
            // A key holds only constants: anything else between the parentheses means a function.
            let start = scanner.position
            _ = scanner.skip("(")
            trail.append(.property(try scanner.column(name, columns, at: place)), at: place)
            do {
                try appendKey(to: &trail, level, at: start)
            } catch {
                throw error.isUnsupported ? error : scanner.error("there is no function \"\(name)\"", at: place)
            }
            return try rest(of: trail, level, at: place)
        }
        let column = try scanner.column(name, columns, at: place)
        if scanner.next != "/" { return leaf(.column(column), at: place) }
        trail.append(.property(column), at: place)
        return try rest(of: trail, level, at: place)
    }

    /// Reads a path that begins with that qualified name: a function, or a type and a property of it.
    mutating func path(fromQualified name: String, level: Int, at place: Int) throws(TableQuery.SyntaxError) -> Part {
        var trail = Trail(path: TableQuery.Path(.record, []))
        if scanner.skip("(") {
            let arguments = try arguments(level)
            trail.append(.function(name, arguments.map(\.argument)), at: place, arguments.map(\.part))
        } else {
            guard scanner.next == "/" else { throw scanner.error("expected \"(\" or \"/\", found \(scanner.found)") }
            trail.append(.type(name), at: place)
        }
        return try rest(of: trail, level, at: place)
    }

    /// Reads a path that begins with a `$` or an `@`.
    mutating func rootedPath(level: Int) throws(TableQuery.SyntaxError) -> Part {
        let start = scanner.position
        if scanner.skip("$") {
            let root: TableQuery.Path.Root
            switch scanner.identifier() {
            case "it": root = .it
            case "this": root = .this
            case "root": root = .service
            default: throw scanner.error("expected a value", at: start)
            }
            if root == .service, scanner.next != "/" {
                throw scanner.error("expected \"/\", found \(scanner.found)")
            }
            return try rest(of: Trail(path: TableQuery.Path(root, [])), level, at: start)
        }
        _ = scanner.skip("@")
        guard let first = scanner.identifier() else { throw scanner.error("expected a name, found \(scanner.found)") }
        if scanner.next == "." || scanner.next == "#" {
            var trail = Trail(path: TableQuery.Path(.record, []))
            trail.append(.annotation(try scanner.annotation(first)), at: start)
            return try rest(of: trail, level, at: start)
        }
        return try alias(PropertyName(first), level: level, at: start)
    }

    /// Reads an alias: its value, if it is known.
    private mutating func alias(_ name: PropertyName, level: Int, at place: Int) throws(TableQuery.SyntaxError) -> Part
    {
        guard let aliases, var value = try aliases.value(of: name, self, at: place) else {
            return try rest(of: Trail(path: TableQuery.Path(.alias(name), [])), level, at: place)
        }
        value.places = ODataPlaces(everywhere: place)
        if scanner.next != "/" {
            guard level + value.depth - 1 <= maximumDepth else { throw tooDeep(at: place) }
            return value
        }
        let path: TableQuery.Path
        switch value.expression {
        case .column(let column): path = TableQuery.Path(.record, [.property(column)])
        case .path(let value): path = value
        default: throw scanner.error("the value of @\(name) is no path", at: place)
        }
        var trail = Trail(path: TableQuery.Path(path.root, []))
        for step in path.steps { trail.append(step, at: place) }
        trail.places = path.steps.map { _ in ODataPlaces(everywhere: place) }
        trail.depth = value.depth
        trail.size = value.size
        return try rest(of: trail, level, at: place)
    }

    /// Reads the further steps.
    private mutating func rest(of start: Trail, _ level: Int, at place: Int) throws(TableQuery.SyntaxError) -> Part {
        var trail = start
        while scanner.skip("/") { try appendStep(to: &trail, level) }
        if trail.path.root == .record, trail.path.steps.count == 1, case .property(let name) = trail.path.steps[0] {
            return leaf(.column(name), at: place)
        }
        guard trail.depth < maximumDepth else { throw tooDeep(at: place) }
        return Part(
            expression: .path(trail.path), depth: trail.depth + 1, size: trail.size + 1,
            places: ODataPlaces(place: place, operands: trail.places))
    }

    private mutating func appendStep(to trail: inout Trail, _ level: Int) throws(TableQuery.SyntaxError) {
        let place = scanner.position
        if scanner.skip("@") {
            guard let first = scanner.identifier() else {
                throw scanner.error("expected a name, found \(scanner.found)")
            }
            trail.append(.annotation(try scanner.annotation(first)), at: place)
            return
        }
        if scanner.skip("$") {
            switch scanner.identifier() {
            case "count": try appendCount(to: &trail, level, at: place)
            case "filter":
                try scanner.expect("(")
                let condition = try ofElements { parser throws(TableQuery.SyntaxError) in try parser.nested(level) }
                try scanner.expect(")")
                trail.append(.filter(condition.expression), at: place, [condition])
                if scanner.skip("(") { try appendKey(to: &trail, level, at: scanner.position) }
            default: throw scanner.error("there is no step of this name", at: place)
            }
            return
        }
        guard let first = scanner.identifier() else {
            throw scanner.error("expected a property's name, found \(scanner.found)")
        }
        if scanner.next == "." {
            let name = try scanner.qualifiedName(first)
            if scanner.skip("(") {
                let arguments = try arguments(level)
                trail.append(.function(name, arguments.map(\.argument)), at: place, arguments.map(\.part))
                if scanner.skip("(") { try appendKey(to: &trail, level, at: scanner.position) }
            } else {
                trail.append(.type(name), at: place)
            }
            return
        }
        try appendName(first, to: &trail, level, at: place)
    }

    private mutating func appendName(
        _ name: String, to trail: inout Trail, _ level: Int, at place: Int
    ) throws(TableQuery.SyntaxError) {
        guard scanner.skip("(") else {
            // The record's own properties may have other names in texts.
            let isOfRecord = trail.path.steps.isEmpty && (trail.path.root == .record || trail.path.root == .it)
            let column = isOfRecord ? try scanner.column(name, columns, at: place) : ODataName.decoded(name)
            return trail.append(.property(column), at: place)
        }
        scanner.skipSpace()
        switch name.lowercased() {
        case "any" where scanner.skip(")"): trail.append(.any(nil), at: place)
        case "any", "all":
            let (lambda, part) = try lambda(level)
            trail.append(name.lowercased() == "any" ? .any(lambda) : .all(lambda), at: place, [part])
        default:
            if scanner.skip(")") {
                trail.append(.function(name, []), at: place)
            } else {
                trail.append(.property(ODataName.decoded(name)), at: place)
                try appendKey(to: &trail, level, at: place)
            }
        }
    }

    /// Reads `x:x/Price gt 5`, and the closing parenthesis.
    private mutating func lambda(_ level: Int) throws(TableQuery.SyntaxError) -> (TableQuery.Lambda, Part) {
        guard let variable = scanner.identifier() else {
            throw scanner.error("expected a variable's name, found \(scanner.found)")
        }
        try scanner.expect(":")
        variables.append(PropertyName(variable))
        defer { variables.removeLast() }
        let condition = try nested(level)
        try scanner.expect(")")
        return (TableQuery.Lambda(PropertyName(variable), condition.expression), condition)
    }

    /// Reads `$count`, after its name: the number of elements, or of those that pass `($filter=…;$search=…)`.
    private mutating func appendCount(to trail: inout Trail, _ level: Int, at place: Int) throws(TableQuery.SyntaxError)
    {
        var filter: Part?
        var search: QuerySearch?
        if scanner.skip("(") {
            repeat {
                scanner.skipSpace()
                switch try scanner.optionName() {
                case "filter" where filter == nil:
                    filter = try ofElements { parser throws(TableQuery.SyntaxError) in try parser.nested(level) }
                case "search" where search == nil: search = try self.search(isNested: true)
                default: throw scanner.error("only $filter and $search may stand here", at: place)
                }
                scanner.skipSpace()
            } while scanner.skip(";")
            try scanner.expect(")")
        }
        trail.append(.count(filter?.expression, search), at: place, filter.map { [$0] } ?? [])
    }

    /// Reads an expression about the elements of a collection, where names are not mapped to columns.
    mutating func ofElements<Value>(
        _ body: (inout ODataParser) throws(TableQuery.SyntaxError) -> Value
    ) throws(TableQuery.SyntaxError) -> Value {
        let outer = columns
        columns = { $0 }
        defer { columns = outer }
        return try body(&self)
    }

    /// Reads a key, after its opening parenthesis: one value, or several with names.
    private mutating func appendKey(to trail: inout Trail, _ level: Int, at place: Int) throws(TableQuery.SyntaxError) {
        let values = try arguments(level)
        let isKey = { (value: QueryExpression) in
            switch value {
            case .literal, .path: true
            default: false
            }
        }
        let isSimple = values.count == 1 && values[0].argument.name == nil && isKey(values[0].argument.value)
        guard isSimple || (!values.isEmpty && values.allSatisfy { $0.argument.name != nil }) else {
            throw scanner.error("this is no key", at: place)
        }
        trail.append(.key(values.map(\.argument)), at: place, values.map(\.part))
    }

    /// Reads values with or without names, after the opening parenthesis.
    private mutating func arguments(
        _ level: Int
    ) throws(TableQuery.SyntaxError) -> [(argument: TableQuery.Argument, part: Part)] {
        var arguments: [(argument: TableQuery.Argument, part: Part)] = []
        scanner.skipSpace()
        if scanner.skip(")") { return [] }
        repeat {
            scanner.skipSpace()
            let start = scanner
            var name = scanner.identifier()
            if name != nil {
                scanner.skipSpace()
                if !scanner.skip("=") {
                    name = nil
                    scanner = start
                }
            }
            let part = try nested(level)
            arguments.append((TableQuery.Argument(name, part.expression), part))
            scanner.skipSpace()
        } while scanner.skip(",")
        try scanner.expect(")")
        return arguments
    }
}
