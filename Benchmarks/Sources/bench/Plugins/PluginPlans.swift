internal import SluiceLua

/// The plugins that are measured.
enum PluginPlans {
    /// Reads three fields of each row and writes one, which is another than before in every row.
    static func pulled() throws -> PluginPlan {
        try plan(
            "page-marker", hook: "after_pull",
            """
            return { after_pull = function(rec, ctx)
              if rec.price >= 0 then rec.quantity = rec.quantity + #rec.title end
            end }
            """)
    }

    /// Reads three fields of a request and sets one header.
    static let header = """
        return { request = function(req, ctx)
          if req.method == "GET" and req.path ~= "" then req.headers:set("X-Kind", req.table) end
        end }
        """

    /// A plugin with ``header``.
    static func request(_ name: String = "header", match: String = "{}") throws -> PluginPlan {
        try plan(name, hook: "request", match: match, header)
    }

    /// As many, none of which is meant for the requests that are sent.
    static func unmatched(_ count: Int) throws -> [PluginPlan] {
        try (0..<count).map { try request("other-\($0)", match: #"{"tables":["others-\#($0)"]}"#) }
    }

    /// Stands around the exchange: sets a header, sends the request on, and looks at the answer.
    static func filter() throws -> PluginPlan {
        try plan(
            "around", hook: "filter",
            """
            return { filter = function(req, next, ctx)
              req.headers:set("X-Kind", req.table)
              local res = next(req)
              if res.status >= 500 then ctx.log.warn("the server failed") end
              return res
            end }
            """)
    }

    /// Loads `count` plugins, and returns after their scripts have run.
    static func load(_ count: Int) async throws {
        let plugins = try await Plugins((0..<count).map { try request("plugin-\($0)") })
        guard plugins.names.count == count else { throw BenchFailure("not all plugins were loaded") }
    }

    private static func plan(
        _ name: String, hook: String, match: String = "{}", _ script: String
    ) throws -> PluginPlan {
        let manifest =
            #"{"name":"\#(name)","version":"1.0.0","description":"measured","api":"1.0","#
            + #""hooks":{"\#(hook)":{"match":\#(match)}}}"#
        return try PluginPlan(
            PluginBundle(
                files: ["plugin.json": Array(manifest.utf8), "main.lua": Array(script.utf8)], location: name))
    }
}
