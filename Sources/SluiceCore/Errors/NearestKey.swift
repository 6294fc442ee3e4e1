/// Guesses which word was meant where one is not known.
package enum NearestKey {
    /// `; did you mean NAME?`, if a known word is near enough.
    package static func suggestion(for word: String, among known: [String]) -> String? {
        let best = known.map { ($0, distance(word.lowercased(), $0.lowercased())) }.min { $0.1 < $1.1 }
        guard let (name, distance) = best, distance <= max(1, name.count / 3) else { return nil }
        return "; did you mean \(name)?"
    }

    /// How many characters must be put in, taken out or replaced to turn one word into the other (Levenshtein).
    static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right)
        var row = Array(0...right.count)
        for (index, character) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in right.enumerated() {
                let replaced = diagonal + (character == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[right.count]
    }
}
