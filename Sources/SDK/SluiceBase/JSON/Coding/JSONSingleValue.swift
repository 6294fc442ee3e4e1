/// A type of another library that stands in documents as one value, whatever its own `Codable` conformance would write.
///
/// The core does without Foundation, so it cannot name `Date`. The coders ask each value whether it is of this kind,
/// and a module that knows the type says so: SluicePredicate for Foundation's.
package protocol JSONSingleValue {
    /// What the value must be, in words for an error: `the text of a time`.
    static var expectation: String { get }

    /// The value that `json` stands for; nil if it stands for none.
    init?(json: JSON)

    /// The value as JSON, or nil if JSON cannot express it.
    var json: JSON? { get }
}

extension JSONValueEncoder {
    /// Writes a value of any type, in the form that documents have for it.
    func write(_ value: some Encodable) throws {
        guard let single = value as? any JSONSingleValue else { return try value.encode(to: self) }
        guard let json = single.json else {
            // By its type: Foundation cannot even describe a date that is no number.
            throw EncodingError.invalidValue(
                type(of: value),
                .init(codingPath: codingPath, debugDescription: "JSON has no word for this \(type(of: value))"))
        }
        node.set(json)
    }
}

extension JSONValueDecoder {
    /// Reads a value of any type, from the form that documents have for it.
    func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let single = type as? any JSONSingleValue.Type else { return try Value(from: self) }
        guard let value = single.init(json: self.value) as? Value else {
            throw mismatch(type, single.expectation)
        }
        return value
    }
}
