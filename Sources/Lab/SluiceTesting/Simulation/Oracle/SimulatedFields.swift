internal import SluiceCore

/// The two properties that the applications of a story write, and how they are called there.
struct SimulatedFields: Sendable {
    /// How the simulator calls them.
    static let all = ["a", "b"]

    /// Whether their names are equal except for Unicode normalisation.
    let areTwins: Bool

    /// The property's name in records.
    func name(_ field: String) -> String {
        guard areTwins else { return field }
        return field == "a" ? "\u{E9}" : "e\u{301}"
    }

    /// Whether a record's property is one of the two.
    func isOne(_ property: PropertyName) -> Bool { Self.all.contains { PropertyName(name($0)) == property } }

    /// What a record says of the property: some servers make texts of numbers, and a hook turns their signs.
    func value(_ field: String, of record: JSON?) -> Int64? {
        guard let value = record?[name(field)], let number = value.int ?? value.string.flatMap({ Int64($0) }) else {
            return nil
        }
        return number < 0 ? 0 &- number : number
    }

    /// Such properties of a record.
    func members(_ values: [String: Int64]) -> [(name: String, value: JSON)] {
        Self.all.compactMap { field in values[field].map { (name(field), JSON($0)) } }
    }
}
