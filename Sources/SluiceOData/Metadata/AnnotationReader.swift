internal import SluiceBase

/// Reads one `Annotation` element of CSDL XML: its value as CSDL JSON has it (OData CSDL JSON 4.01, section 14.4).
///
/// Records become objects and collections become lists. Of expressions other than constants and paths no more than that
/// they are there is kept.
struct AnnotationReader {
    private let term: String
    /// The elements around the place of reading, the annotation first, each with its value so far.
    private var open: [(property: String?, value: JSON?)]
    private var characters = ""

    init(_ attributes: [String: String]) {
        term = attributes["Term"] ?? ""
        open = [(nil, Self.value(of: attributes))]
    }

    /// Takes characters, of long texts the beginning alone.
    mutating func text(_ text: String) {
        if characters.utf8.count < 4096 { characters += text }
    }

    mutating func begin(_ element: String, _ attributes: [String: String]) {
        characters = ""
        switch element {
        case "Record": open.append((nil, .object))
        case "Collection": open.append((nil, .array))
        case "PropertyValue": open.append((attributes["Property"], Self.value(of: attributes)))
        default: open.append((nil, nil))
        }
    }

    /// Ends an element.
    ///
    /// - Returns: the annotation where that was the outermost element.
    mutating func end(_ element: String) -> EdmModel.Annotation? {
        guard let ended = open.popLast() else { return nil }
        let value = ended.value ?? Self.constant(element, characters) ?? JSON(true)
        characters = ""
        guard let last = open.indices.last else { return EdmModel.Annotation(term, value) }
        // Annotations of values are about them, and no part of them.
        if element == "Annotation" { return nil }
        switch open[last].value?.kind {
        case .object: if let property = ended.property { open[last].value?[PropertyName(property)] = value }
        case .array: open[last].value?.append(value)
        default: open[last].value = value
        }
        return nil
    }

    /// The value that stands in an attribute.
    private static func value(of attributes: [String: String]) -> JSON? {
        attributes.sorted { $0.key < $1.key }.lazy.compactMap { constant($0.key, $0.value) }.first
    }

    /// The constant or path of that kind; nil for a kind that is neither.
    private static func constant(_ kind: String, _ text: String) -> JSON? {
        switch kind {
        case "Bool": JSON(text == "true")
        case "String", "EnumMember", "Path", "PropertyPath", "NavigationPropertyPath", "AnnotationPath", "Date",
            "DateTimeOffset", "Duration", "Guid", "TimeOfDay":
            JSON(text)
        case "Int", "Decimal", "Float": JSONNumber(text: text).map { JSON($0) } ?? JSON(text)
        default: nil
        }
    }
}
