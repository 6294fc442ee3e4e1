internal import SluiceLua

/// What a Lua text says of itself without being run: which names it takes from outside, and where its statements are.
struct LuaOutline: Sendable {
    /// A place where the text names something that it has not made itself.
    struct Use: Sendable, Hashable {
        /// The global's name, and the members that are read from it: `["crypto", "uuid"]`.
        var path: [String]
        var line: Int
        /// Whether the text writes to it, as far as it is written out: `x = 1`, `req.url = …`.
        var isWritten = false
        /// The first argument, where it is called with a text written out: `require "lib.rules"`.
        var argument: String?
        /// The function that it stands in, by its place in ``LuaOutline/functions``; nil outside of all.
        var function: Int?
    }

    /// A function of the text.
    struct Function: Sendable, Hashable {
        /// The last part of the name under which it is kept, where there is one: `on_conflict`.
        var name: String?
        /// The function around it.
        var parent: Int?
    }

    /// A place where a member of a parameter is named: `c.server`, `c:merge`.
    struct Member: Sendable, Hashable {
        var function: Int
        /// Which parameter of the function, from 0.
        var parameter: Int
        /// The parameter's name, and the members: `["c", "server", "title"]`.
        var path: [String]
        var line: Int
    }

    /// A statement inside of a function: the lines on which it runs.
    struct Statement: Sendable, Hashable {
        var lines: ClosedRange<Int>
    }

    /// The globals, in the order in which they are used.
    var uses: [Use] = []
    /// Assignments to members of local names: `req.url = …` as `["req", "url"]`.
    var writes: [Use] = []
    /// Methods of local names that are called with a text written out: `req.headers:set("If-Match", …)` as
    /// `["req", "headers", "set"]` with its argument.
    var calls: [Use] = []
    /// All functions, the outer ones before those inside.
    var functions: [Function] = []
    /// Names that are kept under others: `{ on_conflict = decide_it }`.
    var aliases: [String: String] = [:]
    /// Where members of parameters are named, of those that are never assigned to.
    var members: [Member] = []
    /// The statements inside of functions; those outside run when the plugin is loaded.
    var statements: [Statement] = []

    /// Reads a text; nil where it is not Lua. What exactly is wrong with it the machine says.
    init?(_ text: [UInt8]) {
        var reader = LuaReader(LuaLexer.tokens(of: text))
        guard let outline = try? reader.chunk() else { return nil }
        self = outline
    }

    init() {}
}
