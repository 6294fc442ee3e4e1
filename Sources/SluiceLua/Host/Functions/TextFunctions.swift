internal import SluiceCore

/// `text`: what is too dear to be said in Lua. What grows with the product of two lengths is paid for before it begins.
enum TextFunctions {
    private static let maximumLines = 2000
    private static let maximumCharacters = 1000
    /// How many cells of a table of two texts are worth a unit of fuel.
    private static let cellsOfFuel = 16

    private static func lines(_ text: String) -> [ArraySlice<UInt8>] {
        Array(text.utf8).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }

    /// Two texts merged line by line against their base; nil where both changed the same lines to different ones.
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

    /// How many characters differ (Levenshtein).
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
