/// Suggests a known name in the place of an unknown one.
package enum NearestKey {
    /// Returns `; did you mean NAME?`, if a known name is near enough.
    package static func suggestion(for word: String, among known: [String]) -> String? {
        // A text too long for a name is not compared.
        guard word.utf8.count <= 64 else { return nil }
        let best = known.map { ($0, distance(word.lowercased(), $0.lowercased())) }.min { $0.1 < $1.1 }
        guard let (name, distance) = best, distance <= max(1, name.count / 3) else { return nil }
        return "; did you mean \(name)?"
    }

    /// Returns the number of characters to insert, remove, replace or swap with their neighbour to turn one text into
    /// the other (Damerau and Levenshtein, each position touched once).
    static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left)
        let right = Array(right)
        var last: [Int] = []
        var row = Array(0...right.count)
        for index in left.indices {
            var next = [index + 1]
            for column in right.indices {
                let replaced = row[column] + (left[index] == right[column] ? 0 : 1)
                var best = min(replaced, next[column] + 1, row[column + 1] + 1)
                if index > 0, column > 0, left[index] == right[column - 1], left[index - 1] == right[column] {
                    best = min(best, last[column - 1] + 1)
                }
                next.append(best)
            }
            (last, row) = (row, next)
        }
        return row[right.count]
    }
}
