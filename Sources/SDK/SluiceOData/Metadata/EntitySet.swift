public import SluiceBase

/// What the wire has to know of an entity set: how its rows are addressed, and of which types its properties are.
public struct EntitySet: Sendable, Hashable {
    /// A property with its type.
    public struct Property: Sendable, Hashable {
        /// The name, as the service spells it.
        public var name: PropertyName
        /// The type.
        public var type: EdmPrimitive

        /// A property.
        public init(_ name: PropertyName, _ type: EdmPrimitive) {
            self.name = name
            self.type = type
        }
    }

    /// The set's name, which is its address below the service's root.
    public var name: String
    /// The properties that make up the key, in the order of the service's description.
    public var key: [Property]
    /// The types of the primitive properties, those of the key among them. A property that is not here is carried as it
    /// is.
    public var types: [PropertyName: EdmPrimitive]
    /// The properties of other types: complex ones and collections, where the service's description was read.
    package var structured: Set<PropertyName> = []
    /// The property that says when a row was last changed; nil where the service keeps no such time. Rows are then
    /// followed by delta links, or read whole.
    public var updatedAt: PropertyName?
    /// The properties of the key that the service assigns to new rows: all of them, or the rest beside those that a new
    /// row brings.
    public var assignedKey: Set<PropertyName> = []
    /// The properties, those of the key apart, whose values in a new row the service ignores.
    public var notCreatable: Set<PropertyName> = []
    /// The properties, those of the key apart, whose values in an update the service ignores.
    public var notUpdatable: Set<PropertyName> = []
    /// The property in which a row that was made here keeps its id; nil where the key is the id.
    public var clientID: PropertyName?
    /// Whether the service may be asked for delta links.
    public var tracksChanges = true

    /// A set.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a set without a key, a key property of a type that no
    ///   key may have, and a set in which both names are taken that a property `id` beside the key could have in records.
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

    /// The key's property where there is one alone.
    package var singleKey: Property? { key.count == 1 ? key[0] : nil }

    /// Whether the service assigns the keys of new rows, or a part of each.
    public var assignsKey: Bool { !assignedKey.isEmpty }

    // MARK: Names in records

    /// The name that a property `id` has in records, where it is not the whole key: their `id` is that.
    private static let otherID: PropertyName = "ID"

    private var hasOtherID: Bool { types["id"] != nil && singleKey?.name != "id" }

    /// The name of a property in records: the service's own. `id` alone is the record's, with the key as a text.
    package func column(of property: PropertyName) -> PropertyName {
        property == "id" && singleKey?.name != "id" ? Self.otherID : property
    }

    /// The property that a column of records other than `id` holds.
    package func property(of column: PropertyName) -> PropertyName {
        column == Self.otherID && hasOtherID ? "id" : column
    }

    /// Types that have no literal by which a row could be asked for.
    private static let unfit: Set<EdmPrimitive> = [
        .binary, .single, .double, .stream, .geographyPoint, .geometryPoint,
    ]
}
