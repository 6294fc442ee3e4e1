internal import SluiceCore

extension HostModule {
    /// `json`: the sandbox's own functions.
    static let json = HostModule(
        "json", "sluice.JSON", "JSON values.",
        [
            .lua("encode", [("value", "any")], "string", "The value as JSON text.", "p.json_encode"),
            .lua(
                "decode", [("text", "string")], "any", "The value of a text; nil and a message for what is no JSON.",
                "p.json_decode"),
            .field(
                "null", "any", "JSON's null. A field that is null is equal to it; one that is missing is nil.", "null"),
            .lua(
                "array", [("list", "table")], "table", "Marks a table as an array, which an empty one needs.", "p.array"
            ),
            .lua(
                "object", [("members", "table")], "table", "Marks a table as an object.",
                "function(t) return object(t) end"),
        ])

    /// `math`: Lua's own, except for chance: a fixture gets the same numbers each time.
    static let math = HostModule(
        "math", "", "Lua's own.", base: "copy(math)",
        before: #"""
            local function copy(t)
              local copied = {}
              for name, value in pairs(t) do copied[name] = value end
              return copied
            end

            """#,
        [
            .host("random", [("from?", "integer"), ("to?", "integer")], "number", "A number.", permission: .random) {
                .value(try CryptoFunctions.chance($0))
            }
        ])

    /// Global functions beyond Lua's own.
    package static let globals: [HostMember] = [
        .lua(
            "print", [("...", "any")], "",
            "Writes a line at the level `debug`, as `log.debug` does: the values as `tostring` has them, a tab between two.",
            #"""
            function(...)
              local count, parts = select("#", ...), { ... }
              for i = 1, count do parts[i] = tostring(parts[i]) end
              tell("log", "debug", concat(parts, "\t", 1, count))
            end
            """#)
    ]
}
