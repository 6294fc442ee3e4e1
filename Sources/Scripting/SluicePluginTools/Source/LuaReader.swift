internal import SluiceLua

/// Parses Lua 5.4 as far as needed to know the local names.
struct LuaReader {
    /// The text is not Lua, or nested deeper than people write.
    struct NotLua: Error {}

    private static let maximumDepth = 190

    private let tokens: [LuaToken]
    private var place = 0
    /// Local names, each with its parameter if it is one.
    private var scopes: [[String: Parameter?]] = [[:]]
    /// The enclosing functions, the outermost first.
    private var functions: [Int] = []
    /// The name of the next function.
    private var pending: String?
    private var assigned: Set<Parameter> = []
    private var depth = 0
    var outline = LuaOutline()

    private struct Parameter: Hashable {
        var function: Int
        var place: Int
    }

    init(_ tokens: [LuaToken]) { self.tokens = tokens }

    mutating func chunk() throws -> LuaOutline {
        try block()
        guard token.kind == .end else { throw NotLua() }
        outline.members.removeAll { assigned.contains(Parameter(function: $0.function, place: $0.parameter)) }
        return outline
    }

    // MARK: - words

    var token: LuaToken { tokens[place] }
    private var lastLine: Int { place == 0 ? 1 : tokens[place - 1].line }

    mutating func advance() { if place + 1 < tokens.count { place += 1 } }

    mutating func skip(_ word: String) -> Bool {
        guard token.is(word) else { return false }
        advance()
        return true
    }

    mutating func need(_ word: String) throws { if !skip(word) { throw NotLua() } }

    mutating func name() throws -> String {
        guard token.kind == .name else { throw NotLua() }
        defer { advance() }
        return token.text
    }

    // MARK: - scopes

    private func isLocal(_ name: String) -> Bool { scopes.contains { $0[name] != nil } }
    private mutating func declare(_ names: some Sequence<String>) {
        for name in names { scopes[scopes.count - 1][name] = .some(nil) }
    }

    /// Returns the parameter of that name; nil if the name is none.
    private func parameter(_ name: String) -> Parameter? {
        for scope in scopes.reversed() { if let found = scope[name] { return found } }
        return nil
    }

    private mutating func inScope(
        _ names: [String] = [], of function: Int? = nil, _ body: (inout Self) throws -> Void
    ) throws {
        guard depth < Self.maximumDepth else { throw NotLua() }
        depth += 1
        scopes.append([:])
        for (place, name) in names.enumerated() {
            scopes[scopes.count - 1][name] = .some(function.map { Parameter(function: $0, place: place) })
        }
        try body(&self)
        scopes.removeLast()
        depth -= 1
    }

    // MARK: - statements

    private mutating func block() throws {
        while token.kind != .end, !["end", "else", "elseif", "until"].contains(where: { token.is($0) }) {
            if token.is("return") {
                let start = token.line
                advance()
                if !token.is("end"), !token.is("else"), !token.is("elseif"), !token.is("until"), !token.is(";"),
                    token.kind != .end
                {
                    try expressions()
                }
                _ = skip(";")
                mark(start)
                return
            }
            try statement()
        }
    }

    /// Records a statement that began on that line.
    private mutating func mark(_ start: Int, to end: Int? = nil) {
        guard !functions.isEmpty else { return }
        outline.statements.append(.init(lines: start...max(start, end ?? lastLine)))
    }

    private mutating func statement() throws {
        let start = token.line
        if skip(";") { return }
        if skip("::") {
            _ = try name()
            return try need("::")
        }
        if skip("if") {
            repeat {
                let line = lastLine
                try expression()
                mark(line)
                try need("then")
                try inScope { try $0.block() }
            } while skip("elseif")
            if skip("else") { try inScope { try $0.block() } }
            return try need("end")
        }
        if skip("while") {
            try expression()
            mark(start)
            try need("do")
            try inScope { try $0.block() }
            return try need("end")
        }
        if skip("do") {
            try inScope { try $0.block() }
            return try need("end")
        }
        if skip("for") { return try loop(start) }
        if skip("repeat") {
            try inScope {
                try $0.block()
                try $0.need("until")
                let line = $0.lastLine
                try $0.expression()
                $0.mark(line)
            }
            return
        }
        if skip("function") { return try function(start) }
        if skip("local") { return try local(start) }
        if skip("break") { return mark(start) }
        if token.is("goto") {
            advance()
            _ = try name()
            return mark(start)
        }
        try call(start)
    }

    private mutating func loop(_ start: Int) throws {
        var names = [try name()]
        while skip(",") { names.append(try name()) }
        if !skip("=") { try need("in") }
        try expressions()
        mark(start)
        try need("do")
        try inScope(names) { try $0.block() }
        try need("end")
    }

    private mutating func function(_ start: Int) throws {
        let first = try name()
        var path = [first]
        while skip(".") { path.append(try name()) }
        let isMethod = skip(":")
        if isMethod { path.append(try name()) }
        if !isLocal(first) {
            outline.uses.append(.init(path: path, line: start, isWritten: true, function: functions.last))
        }
        pending = path.last
        try body(isMethod: isMethod)
        mark(lastLine)
    }

    private mutating func local(_ start: Int) throws {
        if skip("function") {
            let name = try name()
            declare([name])
            pending = name
            try body(isMethod: false)
            return mark(lastLine)
        }
        var names: [String] = []
        repeat {
            names.append(try name())
            if skip("<") {
                _ = try name()
                try need(">")
            }
        } while skip(",")
        if skip("=") {
            if names.count == 1 { keep(as: names[0]) }
            try expressions()
        }
        declare(names)
        mark(start)
    }

    /// Parses a call or an assignment.
    private mutating func call(_ start: Int) throws {
        var targets = [try suffixed()]
        if token.is("=") || token.is(",") {
            while skip(",") { targets.append(try suffixed()) }
            try need("=")
            for target in targets {
                switch target {
                case .use(let index): outline.uses[index].isWritten = true
                case .local(let path) where path.count > 1:
                    outline.writes.append(.init(path: path, line: start, isWritten: true))
                case .local(let path): if let parameter = parameter(path[0]) { assigned.insert(parameter) }
                case .other: break
                }
            }
            if targets.count == 1 {
                switch targets[0] {
                case .use(let index): keep(as: outline.uses[index].path.last)
                case .local(let path): keep(as: path.last)
                case .other: break
                }
            }
            try expressions()
        } else {
            guard case .other = targets[0] else { throw NotLua() }
        }
        mark(start)
    }

    /// Records the name that the next function, or an alias of one, is assigned to.
    private mutating func keep(as name: String?) {
        if token.is("function") {
            pending = name
        } else if token.kind == .name, let name {
            let next = tokens[min(place + 1, tokens.count - 1)]
            let isRead = next.kind == .string || [".", ":", "(", "[", "{"].contains { next.is($0) }
            if !isRead { outline.aliases[name] = token.text }
        }
    }

    // MARK: - expressions

    /// The expression before `=` or a call, as far as it consists of names.
    private enum Target {
        case use(Int), local([String]), other
    }

    private mutating func expressions() throws {
        repeat { try expression() } while skip(",")
    }

    private static let operators: Set<String> = [
        "+", "-", "*", "/", "//", "^", "%", "&", "~", "|", "<<", ">>", "..", "<", "<=", ">", ">=", "==", "~=", "and",
        "or",
    ]

    private mutating func expression() throws {
        guard depth < Self.maximumDepth else { throw NotLua() }
        depth += 1
        defer { depth -= 1 }
        repeat {
            while ["not", "-", "#", "~"].contains(where: { token.is($0) }) { advance() }
            try simple()
        } while Self.operators.contains(token.text) && (token.kind == .symbol || token.kind == .keyword)
            && skip(token.text)
    }

    private mutating func simple() throws {
        switch token.kind {
        case .number, .string: return advance()
        case .keyword where ["nil", "true", "false"].contains(token.text): return advance()
        case .symbol where token.text == "...": return advance()
        case .symbol where token.text == "{": return try table()
        case .keyword where token.text == "function":
            advance()
            return try body(isMethod: false)
        default: _ = try suffixed()
        }
    }

    private mutating func table() throws {
        try need("{")
        while !token.is("}") {
            if skip("[") {
                try expression()
                try need("]")
                try need("=")
            } else if token.kind == .name, tokens[min(place + 1, tokens.count - 1)].is("=") {
                let name = token.text
                advance()
                advance()
                keep(as: name)
            }
            try expression()
            guard skip(",") || skip(";") else { break }
        }
        try need("}")
    }

    private mutating func body(isMethod: Bool) throws {
        try need("(")
        var names = isMethod ? ["self"] : []
        while !token.is(")") {
            if !skip("...") { names.append(try name()) }
            guard skip(",") else { break }
        }
        try need(")")
        let function = outline.functions.count
        outline.functions.append(.init(name: pending, parent: functions.last))
        pending = nil
        functions.append(function)
        try inScope(names, of: function) { try $0.block() }
        functions.removeLast()
        try need("end")
    }

    /// Parses a name or a parenthesized expression, with the members and calls after it.
    private mutating func suffixed() throws -> Target {
        var target = Target.other
        if skip("(") {
            try expression()
            try need(")")
        } else {
            let line = token.line
            let first = try name()
            if isLocal(first) {
                target = .local([first])
            } else {
                outline.uses.append(.init(path: [first], line: line, function: functions.last))
                target = .use(outline.uses.count - 1)
            }
        }
        while true {
            if skip(".") {
                let member = try name()
                switch target {
                case .use(let index): outline.uses[index].path.append(member)
                case .local(let path): target = .local(path + [member])
                case .other: break
                }
            } else if skip("[") {
                note(target)
                try expression()
                try need("]")
                target = .other
            } else if token.is(":") || token.is("(") || token.is("{") || token.kind == .string {
                let isMethod = skip(":")
                let method = isMethod ? try name() : nil
                note(target, method)
                switch target {
                case .use(let index) where !isMethod: outline.uses[index].argument = firstText
                case .local(let path):
                    guard let method, let text = firstText else { break }
                    outline.calls.append(.init(path: path + [method], line: lastLine, argument: text))
                default: break
                }
                try arguments()
                target = .other
            } else {
                note(target)
                return target
            }
        }
    }

    /// Records members read from a parameter.
    private mutating func note(_ target: Target, _ method: String? = nil) {
        guard case .local(let path) = target, let parameter = parameter(path[0]) else { return }
        let whole = path + [method].compactMap { $0 }
        guard whole.count > 1 else { return }
        outline.members.append(
            .init(function: parameter.function, parameter: parameter.place, path: whole, line: lastLine))
    }

    /// The literal text at the beginning of a call; nil without one.
    private var firstText: String? {
        let first = token.is("(") ? tokens[min(place + 1, tokens.count - 1)] : token
        return first.kind == .string ? first.text : nil
    }

    private mutating func arguments() throws {
        if token.kind == .string { return advance() }
        if token.is("{") { return try table() }
        try need("(")
        if !token.is(")") { try expressions() }
        try need(")")
    }
}
