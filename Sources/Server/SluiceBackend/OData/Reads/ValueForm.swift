internal import HTTPTypes
internal import SluiceCore
internal import SluiceOData

/// The forms of values in the versions of OData.
enum ValueForm {
    // MARK: Writing

    /// Returns a record's value in JSON. A value of another type than its column's is written unchanged.
    static func written(
        _ value: JSON, _ property: EntitySet.Property?, _ version: ServiceVersion, ieee754 isCompatible: Bool = false
    ) -> JSON {
        guard let property, !value.isNull else { return value }
        if version == .v2, property.isJSON { return JSON(value.description) }
        switch property.type {
        case .int64 where version == .v2 || isCompatible:
            // Beyond 53 bits a JSON reader may lose digits.
            return value.number.map { JSON($0.description) } ?? value
        case .dateTimeOffset where version == .v2:
            return value.string.flatMap { V2Date(iso: $0) }.map { JSON($0.wire(hasOffset: true)) } ?? value
        default: return value
        }
    }

    /// Returns a value as a text for XML and `$value`; nil for null.
    static func text(_ value: JSON) -> String? {
        switch value.kind {
        case .null: nil
        case .string: value.string
        default: value.description
        }
    }

    // MARK: Reading

    /// Returns the record's value for a property's value in a body.
    ///
    /// - Throws: ``Refusal`` (400) for a value of another type.
    static func read(_ value: JSON, _ property: EntitySet.Property, _ version: ServiceVersion) throws(Refusal) -> JSON {
        if value.isNull { return value }
        if property.isJSON {
            guard version == .v2 else { return value }
            guard let text = value.string, let json = try? JSON(parsing: text) else {
                throw refusal(property, "a text that holds JSON")
            }
            return json
        }
        switch property.type {
        case .string:
            guard value.string != nil else { throw refusal(property, "a text") }
        case .boolean:
            guard value.bool != nil else { throw refusal(property, "true or false") }
        case .int64:
            let number = value.number ?? value.string.flatMap { JSON.Number(text: $0) }
            guard let whole = number?.int else { throw refusal(property, "a whole number of 64 bits") }
            return JSON(whole)
        case .double:
            guard let number = value.number ?? value.string.flatMap({ JSON.Number(text: $0) }) else {
                throw refusal(property, "a number")
            }
            return JSON(number)
        case .dateTimeOffset:
            guard let text = value.string, let time = time(text, version) else {
                throw refusal(property, version == .v2 ? "a time, /Date(ms)/" : "a time with a zone, in ISO 8601")
            }
            return JSON(time)
        default: break
        }
        return value
    }

    /// Returns the value of an undeclared property, which has no type, unchanged.
    static func read(text: String, _ property: EntitySet.Property?, _ version: ServiceVersion) throws(Refusal) -> JSON {
        guard let property else { return JSON(text) }
        switch property.type {
        case .boolean:
            guard text == "true" || text == "false" else { throw refusal(property, "true or false") }
            return JSON(text == "true")
        default: return try read(JSON(text), property, version)
        }
    }

    private static func time(_ text: String, _ version: ServiceVersion) -> String? {
        if version != .v2 || !text.hasPrefix("/Date(") {
            return Timestamp(text) == nil ? Timestamp(text + "Z").map(\.description) : text
        }
        return V2Date(text)?.text
    }

    private static func refusal(_ property: EntitySet.Property, _ wanted: String) -> Refusal {
        Refusal(.badRequest, "the property \(property.name) is \(wanted)")
    }
}
