internal import SluiceCore

/// The two properties that the applications of a story write, and their names there.
struct SimulatedFields: Sendable {
    /// The names inside the simulator.
    static let all = ["a", "b"]

    /// Whether their names are equal except for Unicode normalisation.
    let areTwins: Bool

    /// Returns the property's name in records.
    func name(_ field: String) -> String {
        guard areTwins else { return field }
        return field == "a" ? "\u{E9}" : "e\u{301}"
    }

    /// Returns whether a record's property is one of the two.
    func isOne(_ property: PropertyName) -> Bool { Self.all.contains { PropertyName(name($0)) == property } }

    /// Returns the property's value in a record: some servers turn numbers into texts, and a hook changes their sign.
    func value(_ field: String, of record: JSON?) -> Int64? {
        guard let value = record?[name(field)], let number = value.int ?? value.string.flatMap({ Int64($0) }) else {
            return nil
        }
        return number < 0 ? 0 &- number : number
    }

    /// Returns the properties as members of a record.
    func members(_ values: [String: Int64]) -> [(name: String, value: JSON)] {
        Self.all.compactMap { field in values[field].map { (name(field), JSON($0)) } }
    }
}
