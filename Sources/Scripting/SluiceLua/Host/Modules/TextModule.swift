internal import SluiceCore

extension HostModule {
    static let text = HostModule(
        "text", "sluice.Text", "Texts.",
        before: #"""
            local function a_text(name, s)
              if type(s) == "number" then return tostring(s) end
              if type(s) ~= "string" then fail("runtime", "text." .. name .. " takes a text, not " .. shown(s)) end
              return s
            end

            """#,
        [
            .lua(
                "trim", [("text", "string")], "string", "Without spaces at both ends.",
                #"function(s) return p.trim(a_text("trim", s)) end"#),
            .lua(
                "split", [("text", "string"), ("separator", "string")], "string[]", "The parts between separators.",
                #"""
                function(s, separator)
                  s = a_text("split", s)
                  if separator == nil or separator == "" then error("text.split needs a separator", 2) end
                  local parts, from = {}, 1
                  while true do
                    local i, j = find(s, separator, from, true)
                    if not i then
                      insert(parts, sub(s, from))
                      return parts
                    end
                    insert(parts, sub(s, from, i - 1))
                    from = j + 1
                  end
                end
                """#),
            .lua(
                "lines", [("text", "string")], "string[]", "The lines.",
                #"function(s) return text.split(gsub(a_text("lines", s), "\r\n", "\n"), "\n") end"#),
            .lua(
                "starts_with", [("text", "string"), ("start", "string")], "boolean", "Whether it begins so.",
                #"""
                function(s, start)
                  start = a_text("starts_with", start)
                  return sub(a_text("starts_with", s), 1, #start) == start
                end
                """#),
            .lua(
                "ends_with", [("text", "string"), ("ending", "string")], "boolean", "Whether it ends so.",
                #"""
                function(s, ending)
                  ending = a_text("ends_with", ending)
                  return ending == "" or sub(a_text("ends_with", s), -#ending) == ending
                end
                """#),
            .host(
                "diff3", [("client", "string"), ("server", "string"), ("base", "string")], "string?",
                "Both texts merged line by line; nil where both changed the same lines."
            ) { .value(try TextFunctions.merged($0.arguments, $0.meter)) },
            .host(
                "levenshtein", [("a", "string"), ("b", "string")], "integer",
                "How many characters differ, for texts of up to 1000."
            ) { .value(try TextFunctions.distance($0.arguments, $0.meter)) },
        ])
}

/// `text`: functions that are too expensive in Lua. Work that grows with the product of two lengths is paid for before
/// it begins.
enum TextFunctions {
    private static let maximumLines = 2000
    private static let maximumCharacters = 1000
    /// The number of cells of a table of two texts for a unit of fuel.
    private static let cellsOfFuel = 16

    private static func lines(_ text: String) -> [ArraySlice<UInt8>] {
        Array(text.utf8).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }

    /// Merges two texts line by line against their base; nil if both changed the same lines differently.
    static func merged(_ arguments: HostArguments, _ meter: HostMeter) throws -> JSON? {
        let texts = try (0..<3).map { lines(try arguments.text($0, "three texts: client, server, base")) }
        guard texts.allSatisfy({ $0.count <= maximumLines }) else {
            throw ScriptFailure(.runtime, "text.diff3 takes texts of at most \(maximumLines) lines")
        }
        try meter.charge(texts.reduce(0) { $0 + $1.count })
        return try LineMerge(client: texts[0], server: texts[1], base: texts[2]).merged { cells in
            try meter.charge(cells / cellsOfFuel)
        }.map { JSON(String(decoding: Array($0.joined(separator: [UInt8(ascii: "\n")])), as: UTF8.self)) }
    }

    /// Returns the number of differing characters (Levenshtein distance).
    static func distance(_ arguments: HostArguments, _ meter: HostMeter) throws -> JSON {
        let (from, to) = (
            Array(try arguments.text(0, "two texts").unicodeScalars),
            Array(try arguments.text(1, "two texts").unicodeScalars)
        )
        guard max(from.count, to.count) <= maximumCharacters else {
            throw ScriptFailure(.runtime, "text.levenshtein takes texts of at most \(maximumCharacters) characters")
        }
        try meter.charge(from.count * to.count / cellsOfFuel)
        var row = Array(0...to.count)
        for (index, scalar) in from.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in to.enumerated() {
                let replaced = diagonal + (scalar == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return JSON(row[to.count])
    }
}
