package import SluiceBase

/// The types inside a complex value or a collection. What the service's description leaves out is transferred unchanged.
package indirect enum EdmShape: Sendable, Hashable {
    /// A value that the service's description does not describe.
    case unknown
    /// A primitive value.
    case value(EdmPrimitive?)
    /// A complex value, with its described properties.
    case structure([PropertyName: EdmShape])
    /// A collection.
    case collection(EdmShape)

    /// The deepest structure that is described: a complex type may contain itself.
    private static let mostLevels = 8

    /// Makes the shape of a property that is not primitive.
    init(_ type: String, in model: EdmModel, level: Int = 0) {
        let (prefix, suffix) = ("Collection(", ")")
        if type.hasPrefix(prefix), type.hasSuffix(suffix) {
            self = .collection(
                EdmShape(String(type.dropFirst(prefix.count).dropLast(suffix.count)), in: model, level: level))
        } else if let structure = try? model.whole(type), level < Self.mostLevels {
            let properties = structure.properties.map { property in
                (property.name, EdmShape(property.type, in: model, level: level + 1))
            }
            self = .structure(Dictionary(properties) { first, _ in first })
        } else if type.hasPrefix("Edm.") {
            self = .value(model.primitive(EdmModel.Property("value", type: type)))
        } else {
            self = .unknown
        }
    }

    /// The shape of a property of a complex value.
    func member(_ name: PropertyName) -> EdmShape {
        if case .structure(let members) = self { members[name] ?? .unknown } else { .unknown }
    }

    /// The shape of an element of a collection.
    var element: EdmShape { if case .collection(let element) = self { element } else { .unknown } }

    /// Returns a primitive value for a record, in the form of a property of the row itself. A text that only looks like a time
    /// stays.
    func fromWire(_ value: JSON, version: ODataVersion) -> JSON {
        switch self {
        case .value(let type?): EdmValue.fromWire(value, type: type, version: version)
        case .value: value
        default: EdmValue.fromWire(value, type: nil, version: version)
        }
    }

    /// Returns a record's value for the wire, in the service's form.
    func toWire(_ value: JSON, version: ODataVersion) -> JSON {
        switch self {
        case .unknown: value
        case .value(let type?): EdmValue.toWire(value, type: type, version: version)
        case .value: value
        case .collection(let element):
            value.elements.map { JSON($0.map { element.toWire($0, version: version) }) } ?? value
        case .structure:
            value.members.map { members in
                JSON(members: members.map { ($0.name, member($0.name).toWire($0.value, version: version)) })
            } ?? value
        }
    }
}
