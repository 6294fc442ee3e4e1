/// Returns an error as text for a larger message, because Swift's coding errors describe themselves as source text.
func words(of error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, let context): "\(place(context.codingPath + [key])) is missing"
    case DecodingError.valueNotFound(_, let context), DecodingError.typeMismatch(_, let context),
        DecodingError.dataCorrupted(let context):
        "\(place(context.codingPath)): \(context.debugDescription)"
    case EncodingError.invalidValue(_, let context): "\(place(context.codingPath)): \(context.debugDescription)"
    default: "\(error)"
    }
}

/// Returns the path of a value: `lines[0].price`.
private func place(_ path: [any CodingKey]) -> String {
    let place = path.reduce(into: "") { place, key in
        place += key.intValue.map { "[\($0)]" } ?? (place.isEmpty ? "" : ".") + key.stringValue
    }
    return place.isEmpty ? "the value" : place
}
