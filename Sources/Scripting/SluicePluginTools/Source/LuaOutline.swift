internal import SluiceLua

/// The outline of a Lua text, read without running it: the outside names that it uses, and its statements.
struct LuaOutline: Sendable {
    /// A use of a name that the text does not define itself.
    struct Use: Sendable, Hashable {
        /// The global's name, and the members read from it: `["crypto", "uuid"]`.
        var path: [String]
        var line: Int
        /// Whether the text writes to it by name: `x = 1`, `req.url = …`.
        var isWritten = false
        /// The first argument, if it is a literal text: `require "lib.rules"`.
        var argument: String?
        /// The enclosing function, as an index into ``LuaOutline/functions``; nil outside of all functions.
        var function: Int?
    }

    /// A function of the text.
    struct Function: Sendable, Hashable {
        /// The last part of its name, if it has one: `on_conflict`.
        var name: String?
        /// The enclosing function.
        var parent: Int?
    }

    /// A use of a parameter's member: `c.server`, `c:merge`.
    struct Member: Sendable, Hashable {
        var function: Int
        /// The index of the parameter in the function, from 0.
        var parameter: Int
        /// The parameter's name, and the members: `["c", "server", "title"]`.
        var path: [String]
        var line: Int
    }

    /// A statement inside a function, with the lines of its execution.
    struct Statement: Sendable, Hashable {
        var lines: ClosedRange<Int>
    }

    /// The uses of globals, in the order of the text.
    var uses: [Use] = []
    /// Assignments to members of local names: `req.url = …` as `["req", "url"]`.
    var writes: [Use] = []
    /// Calls of local names' methods with a literal text: `req.headers:set("If-Match", …)` as `["req", "headers",
    /// "set"]` with its argument.
    var calls: [Use] = []
    /// All functions, outer ones before inner ones.
    var functions: [Function] = []
    /// Other names for functions: `{ on_conflict = decide_it }`.
    var aliases: [String: String] = [:]
    /// Uses of parameters' members, except for parameters that are assigned to.
    var members: [Member] = []
    /// The statements inside functions; other statements run when the plugin is loaded.
    var statements: [Statement] = []

    /// Reads a text; nil if it is not Lua. The machine reports the exact error.
    init?(_ text: [UInt8]) {
        var reader = LuaReader(LuaLexer.tokens(of: text))
        guard let outline = try? reader.chunk() else { return nil }
        self = outline
    }

    init() {}
}
