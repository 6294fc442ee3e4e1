internal import SluiceCore

/// `text`: what is too dear to be said in Lua.
enum TextFunctions {
    private static let maximumLines = 2000
    private static let maximumCharacters = 1000

    private static func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Two texts merged line by line against their base; nil where both changed the same lines to different ones.
    static func merged(_ arguments: JSON) throws -> JSON? {
        guard let client = arguments[0]?.string, let server = arguments[1]?.string, let base = arguments[2]?.string
        else { throw ScriptFailure(.runtime, "text.diff3 takes three texts: client, server, base") }
        let texts = [lines(client), lines(server), lines(base)]
        guard texts.allSatisfy({ $0.count <= maximumLines }) else {
            throw ScriptFailure(.runtime, "text.diff3 takes texts of at most \(maximumLines) lines")
        }
        return LineMerge(client: texts[0], server: texts[1], base: texts[2]).merged.map {
            JSON($0.joined(separator: "\n"))
        }
    }

    /// How many characters differ (Levenshtein).
    static func distance(_ arguments: JSON) throws -> JSON {
        guard let left = arguments[0]?.string, let right = arguments[1]?.string else {
            throw ScriptFailure(.runtime, "text.levenshtein takes two texts")
        }
        let (from, to) = (Array(left.unicodeScalars), Array(right.unicodeScalars))
        guard max(from.count, to.count) <= maximumCharacters else {
            throw ScriptFailure(.runtime, "text.levenshtein takes texts of at most \(maximumCharacters) characters")
        }
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

/// Three texts as lines, merged: what only one side changed is taken from that side.
struct LineMerge {
    let client: [Substring]
    let server: [Substring]
    let base: [Substring]

    /// The merged lines; nil where both sides changed the same ones.
    var merged: [Substring]? {
        let (toClient, toServer) = (Self.matches(base, client), Self.matches(base, server))
        var output: [Substring] = []
        var (inBase, inClient, inServer) = (0, 0, 0)
        while true {
            // The next line that all three have.
            var place = inBase
            while place < base.count, toClient[place] == nil || toServer[place] == nil { place += 1 }
            let isEnd = place == base.count
            let clientEnd = isEnd ? client.count : toClient[place] ?? client.count
            let serverEnd = isEnd ? server.count : toServer[place] ?? server.count
            let old = base[inBase..<place]
            let (ours, theirs) = (client[inClient..<clientEnd], server[inServer..<serverEnd])
            if ours.elementsEqual(old) || ours.elementsEqual(theirs) {
                output += theirs
            } else if theirs.elementsEqual(old) {
                output += ours
            } else {
                return nil
            }
            if isEnd { return output }
            output.append(base[place])
            (inBase, inClient, inServer) = (place + 1, clientEnd + 1, serverEnd + 1)
        }
    }

    /// For each line of the base its place in the other text, by a longest common subsequence.
    private static func matches(_ base: [Substring], _ other: [Substring]) -> [Int?] {
        var found = [Int?](repeating: nil, count: base.count)
        var (removed, inserted): (Set<Int>, Set<Int>) = ([], [])
        for change in other.difference(from: base) {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        let kept = other.indices.filter { !inserted.contains($0) }
        for (line, place) in zip(base.indices.filter { !removed.contains($0) }, kept) { found[line] = place }
        return found
    }
}
