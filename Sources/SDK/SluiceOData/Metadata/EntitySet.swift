public import SluiceBase

/// The wire's description of an entity set: the address of its rows, and the types of its properties.
public struct EntitySet: Sendable, Hashable {
    /// A property with its type.
    public struct Property: Sendable, Hashable {
        /// The name, as the service spells it.
        public var name: PropertyName
        /// The type.
        public var type: EdmPrimitive

        /// Creates a property.
        public init(_ name: PropertyName, _ type: EdmPrimitive) {
            self.name = name
            self.type = type
        }
    }

    /// The set's name, which is its address below the service's root.
    public var name: String
    /// The properties that make up the key, in the order of the service's description.
    public var key: [Property]
    /// The types of the primitive properties, including those of the key. Other properties are transferred unchanged.
    public var types: [PropertyName: EdmPrimitive]
    /// The properties of other types (complex ones and collections), if the service's description was read.
    package var structured: [PropertyName: EdmShape] = [:]
    /// The properties that lead to other rows, if the service's description was read. A service may expand them by itself,
    /// and an update of the row does not take them (OData 4.0, part 1, section 11.4.3).
    package var navigation: Set<PropertyName> = []
    /// The property with the time of a row's last change; nil if the service keeps none. Without it rows are followed
    /// by delta links, or read completely.
    public var updatedAt: PropertyName?
    /// The properties of the key that the service assigns to new rows: all of them, or those that a new row does not
    /// provide.
    public var assignedKey: Set<PropertyName> = []
    /// The properties outside the key whose values in a new row the service ignores.
    public var notCreatable: Set<PropertyName> = []
    /// The properties outside the key whose values in an update the service ignores.
    public var notUpdatable: Set<PropertyName> = []
    /// The property with the id of a row that was created here; nil if the key is the id.
    public var clientID: PropertyName?
    /// Whether the service may be asked for delta links.
    public var tracksChanges = true

    /// Creates a set.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a set without a key, for a key property of an
    ///   unsupported type, and for a set whose property `id` has no free name in records.
    public init(
        _ name: String, key: [Property], properties: [Property] = [], updatedAt: PropertyName? = nil
    ) throws(SluiceError) {
        self.name = name
        self.key = key
        self.updatedAt = updatedAt
        types = Dictionary((properties + key).map { ($0.name, $0.type) }) { _, last in last }
        func refusal(_ reason: String) -> SluiceError {
            SluiceError(.invalidArgument, "the entity set \(name) \(reason)", table: name)
        }
        guard !key.isEmpty else { throw refusal("has no key, so its rows cannot be told apart") }
        for property in key where Self.unfit.contains(property.type) {
            throw refusal("has a key of type \(property.type.rawValue), by which no row can be addressed")
        }
        if hasOtherID, types[Self.otherID] != nil {
            throw refusal("has the properties id and \(Self.otherID) beside a key that neither of them is alone")
        }
    }

    /// The key's only property; nil if there are several.
    package var singleKey: Property? { key.count == 1 ? key[0] : nil }

    /// Whether the service assigns the keys of new rows, completely or in part.
    public var assignsKey: Bool { !assignedKey.isEmpty }

    // MARK: Names in records

    /// The name of a property `id` in records, if it is not the whole key, which is the records' `id`.
    private static let otherID: PropertyName = "ID"

    private var hasOtherID: Bool { types["id"] != nil && singleKey?.name != "id" }

    /// Returns the name of a property in records: the service's own. Only `id` is reserved for the key as a text.
    package func column(of property: PropertyName) -> PropertyName {
        property == "id" && singleKey?.name != "id" ? Self.otherID : property
    }

    /// Returns the property for a column of records other than `id`.
    package func property(of column: PropertyName) -> PropertyName {
        column == Self.otherID && hasOtherID ? "id" : column
    }

    /// Types without a literal that could address a row.
    private static let unfit: Set<EdmPrimitive> = [
        .binary, .single, .double, .stream, .geographyPoint, .geometryPoint,
    ]
}
