internal import SluiceCore

/// The form of JSON documents in `jsonb`.
///
/// `jsonb` writes numbers out: of the eight bytes `1e131071` it makes 131,072 digits. A document with such a number is
/// kept as its text, in an object with one member, so that it is restored exactly and stays small.
enum PostgresJSON {
    /// The member with the text.
    private static let wrapper: PropertyName = "sluice_json"
    /// The longest number kept as a number, in characters.
    private static let longestNumber = 1000

    /// Returns the stored form of a document.
    static func kept(_ document: JSON) -> JSON {
        // A document that looks like this form is kept as a text too, so that no one can forge it.
        guard text(document) != nil || !allNumbers(in: document, isPlain) else { return document }
        var wrapped = JSON.object
        wrapped[wrapper] = JSON(document.description)
        return wrapped
    }

    /// Returns the document of a stored form.
    static func document(_ kept: JSON) -> JSON {
        text(kept).flatMap { try? JSON(parsing: $0) } ?? kept
    }

    /// Whether `jsonb` stores the document itself in about its own size.
    static func isBounded(_ document: JSON) -> Bool {
        allNumbers(in: document) { number in
            let parts = number.lowercased().split(separator: "e", maxSplits: 1)
            let exponent = parts.count > 1 ? Int(parts[1]).map(\.magnitude) : 0
            return exponent.map { $0 < longestNumber } ?? false && number.utf8.count < longestNumber
        }
    }

    private static func text(_ document: JSON) -> String? {
        document.kind == .object && document.count == 1 ? document[wrapper]?.string : nil
    }

    /// Whether `jsonb` restores the number as it is written.
    private static func isPlain(_ number: String) -> Bool {
        if number.utf8.count > longestNumber || number.contains(where: { $0 == "e" || $0 == "E" }) { return false }
        // `jsonb` has no negative zero.
        return !number.hasPrefix("-") || number.utf8.contains { (0x31...0x39).contains($0) }
    }

    private static func allNumbers(in document: JSON, _ condition: (String) -> Bool) -> Bool {
        switch document.kind {
        case .number: document.number.map { condition($0.description) } ?? true
        case .array: (document.elements ?? []).allSatisfy { allNumbers(in: $0, condition) }
        case .object: (document.members ?? []).allSatisfy { allNumbers(in: $0.value, condition) }
        case .null, .bool, .string: true
        }
    }
}
