internal import SluiceCore

/// Takes the values of secrets out of texts that leave a plugin: log lines, errors, the decision log.
struct Redactor: Sendable {
    private let values: [String]

    /// Hides those values. Very short ones are left: they would be found everywhere.
    init(_ values: some Sequence<String>) {
        self.values = values.filter { $0.utf8.count >= 4 }.sorted { $0.utf8.count > $1.utf8.count }
    }

    func callAsFunction(_ text: String) -> String {
        var text = text
        for value in values where text.contains(value) { text = text.replacing(value, with: "(hidden)") }
        return text
    }

    func callAsFunction(_ json: JSON) -> JSON {
        if values.isEmpty { return json }
        switch json.kind {
        case .string: return JSON(self(json.string ?? ""))
        case .array: return JSON((json.elements ?? []).map { self($0) })
        case .object: return JSON(members: (json.members ?? []).map { (self($0.name), self($0.value)) })
        default: return json
        }
    }

    /// Whether the text holds one of the values.
    func finds(in text: String) -> Bool { values.contains { text.contains($0) } }
}
