public import SluiceBase

/// What a service says of its data in `$metadata`: EDMX of v2, CSDL XML or CSDL JSON of v4.
public struct EdmModel: Sendable, Hashable {
    /// A remark on a part of the model: an `Annotation` of v4, or an attribute of another namespace, as SAP's services
    /// have them in v2 (`sap:updatable="false"`, with the term `sap:updatable`).
    public struct Annotation: Sendable, Hashable {
        /// The term, with its namespace or alias.
        public var term: String
        /// The value; `true` where none is written.
        public var value: JSON

        /// An annotation.
        public init(_ term: String, _ value: JSON = JSON(true)) {
            self.term = term
            self.value = value
        }
    }

    /// A property with a value of its own.
    public struct Property: Sendable, Hashable {
        /// The name.
        public var name: PropertyName
        /// The type's name as it is written: `Edm.String`, `NS.Address`, `Collection(Edm.Int32)`.
        public var type: String
        /// Whether it may be null.
        public var isNullable = true
        /// How many characters or bytes it may have.
        public var maxLength: Int?
        /// How many digits it may have.
        public var precision: Int?
        /// How many of the digits stand after the point.
        public var scale: Int?
        /// The remarks on it.
        public var annotations: [Annotation] = []

        /// A property.
        public init(_ name: PropertyName, type: String) {
            self.name = name
            self.type = type
        }

        /// The type, where it is a primitive one.
        public var primitive: EdmPrimitive? { EdmPrimitive(rawValue: type) }
    }

    /// A property that leads to other entities.
    public struct Navigation: Sendable, Hashable {
        /// The name.
        public var name: PropertyName
        /// The full name of the type to which it leads.
        public var target: String
        /// Whether it leads to several.
        public var isCollection: Bool
        /// Pairs of a property of this type and the property of the target that has the same value.
        public var constraints: [Constraint] = []
        /// The remarks on it.
        public var annotations: [Annotation] = []

        /// A property here that has the value of one there.
        public struct Constraint: Sendable, Hashable {
            /// The property here.
            public var property: PropertyName
            /// The property of the target.
            public var referenced: PropertyName
        }

        /// A navigation property.
        public init(_ name: PropertyName, to target: String, isCollection: Bool) {
            self.name = name
            self.target = target
            self.isCollection = isCollection
        }
    }

    /// An entity type or a complex type.
    public struct Structure: Sendable, Hashable {
        /// The name with its namespace.
        public var name: String
        /// Whether it is an entity type.
        public var isEntity: Bool
        /// The type that it extends.
        public var base: String?
        /// The names of the properties of the key, without those of the base.
        public var key: [PropertyName] = []
        /// The properties, without those of the base.
        public var properties: [Property] = []
        /// The navigation properties, without those of the base.
        public var navigation: [Navigation] = []
        /// The remarks on it.
        public var annotations: [Annotation] = []

        /// A type.
        public init(_ name: String, isEntity: Bool) {
            self.name = name
            self.isEntity = isEntity
        }
    }

    /// An enumeration.
    public struct Enumeration: Sendable, Hashable {
        /// The name with its namespace.
        public var name: String
        /// The names of the members, in their order.
        public var members: [String] = []
    }

    /// An entity set, or an entity of its own (a singleton).
    public struct Container: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The full name of its entity type.
        public var type: String
        /// Whether it is a single entity.
        public var isSingleton = false
        /// To which set a navigation property leads, by its path.
        public var bindings: [String: String] = [:]
        /// The remarks on it.
        public var annotations: [Annotation] = []

        /// A set.
        public init(_ name: String, type: String) {
            self.name = name
            self.type = type
        }
    }

    /// The generation of OData.
    public var version: ODataVersion
    /// The types, in the order of the document.
    public var structures: [Structure] = []
    /// The enumerations.
    public var enumerations: [Enumeration] = []
    /// Other names of primitive types: v4's `TypeDefinition`, by full name.
    public var definitions: [String: String] = [:]
    /// The sets and single entities, in the order of the document.
    public var sets: [Container] = []
    /// The names of functions and actions that can be called by name.
    public var operations: [String] = []

    /// A model of nothing.
    public init(version: ODataVersion) { self.version = version }

    /// The type of that full name.
    public func structure(_ name: String) -> Structure? { structures.first { $0.name == name } }

    /// The type with all that it inherits.
    ///
    /// - Throws: ``SluiceError`` of code `brokenProtocol` for a type that is missing, or that extends itself.
    public func whole(_ name: String) throws(SluiceError) -> Structure {
        var chain: [Structure] = []
        var next: String? = name
        while let name = next {
            guard let type = structure(name) else {
                throw SluiceError(.brokenProtocol, "the metadata names a type \(name) and does not describe it")
            }
            guard chain.count < 64, !chain.contains(where: { $0.name == name }) else {
                throw SluiceError(.brokenProtocol, "the metadata's type \(name) extends itself")
            }
            chain.append(type)
            next = type.base
        }
        var whole = chain[0]
        for base in chain.dropFirst() {
            whole.key = base.key + whole.key
            whole.properties = base.properties + whole.properties
            whole.navigation = base.navigation + whole.navigation
            whole.annotations += base.annotations
        }
        return whole
    }

    /// The primitive type of a property, also behind a definition; nil for any other.
    public func primitive(_ property: Property) -> EdmPrimitive? {
        property.primitive ?? definitions[property.type].flatMap(EdmPrimitive.init)
    }
}

extension [EdmModel.Annotation] {
    /// Whether one of them has that term, whatever its namespace, and is not `false`.
    public func has(_ term: String) -> Bool { self[term].map { $0 != JSON(false) && $0 != JSON("false") } ?? false }

    /// The value of the first with that term, whatever its namespace.
    public subscript(term: String) -> JSON? {
        first { $0.term.split { $0 == "." || $0 == ":" }.last.map { $0 == term } ?? false }?.value
    }
}

/// What a service says it leaves out of account in changes: properties that only it sets, or that are set once.
extension EdmModel.Property {
    /// A kind of change.
    enum Change {
        case creation
        case update

        /// The attribute of SAP's services that says whether a change of the kind may set a property.
        fileprivate var mark: String { self == .creation ? "creatable" : "updatable" }
    }

    /// Whether the service ignores the property's value in such a change (SAP's `sap:creatable` and `sap:updatable`; OData
    /// Core's Computed, Immutable and Permissions; SAP Common's FieldControl).
    func isIgnored(in change: Change) -> Bool {
        if annotations.has("Computed") || annotations[change.mark] == JSON("false") { return true }
        if change == .update, annotations.has("Immutable") { return true }
        return ["Permissions", "FieldControl"].contains { term in
            let member = annotations[term]?.string?.split(separator: "/").last
            return member == "Read" || member == "ReadOnly"
        }
    }
}

extension EdmModel.Structure {
    /// The properties whose values the service ignores in such a change. Where that is said of all, as tools of SAP write it
    /// unless they are told otherwise, it says nothing.
    func ignored(in change: EdmModel.Property.Change) -> Set<PropertyName> {
        let ignored = properties.filter { $0.isIgnored(in: change) }.map(\.name)
        return ignored.count == properties.count && properties.count > key.count ? [] : Set(ignored)
    }
}

extension EdmModel.Container {
    /// The properties that no creation sets (OData Capabilities, InsertRestrictions).
    var withheldFromCreations: Set<PropertyName> { names("InsertRestrictions", "NonInsertableProperties") }

    /// The properties that no update sets (OData Capabilities, UpdateRestrictions).
    var withheldFromUpdates: Set<PropertyName> { names("UpdateRestrictions", "NonUpdatableProperties") }

    private func names(_ term: String, _ list: String) -> Set<PropertyName> {
        Set((annotations[term]?[PropertyName(list)]?.elements ?? []).compactMap { $0.string.map { PropertyName($0) } })
    }
}

/// What of a model the wire and the local store need.
extension EdmModel {
    /// The set as the wire sees it; nil where the service has none of that name, or a single entity.
    ///
    /// - Throws: ``SluiceError`` of code `brokenProtocol` for a description that contradicts itself, and of
    ///   `invalidArgument` for a set that cannot be synced, with the reason.
    public func entitySet(_ name: String, updatedAt: PropertyName? = nil) throws(SluiceError) -> EntitySet? {
        guard let set = sets.first(where: { $0.name == name && !$0.isSingleton }) else { return nil }
        let type = try whole(set.type)
        var types: [EntitySet.Property] = []
        for property in type.properties {
            if let primitive = primitive(property) { types.append(.init(property.name, primitive)) }
        }
        var key: [EntitySet.Property] = []
        for name in type.key {
            guard let property = type.properties.first(where: { $0.name == name }) else {
                throw SluiceError(.brokenProtocol, "the metadata's key \(name.text) of \(type.name) is no property")
            }
            // An enumeration is written as its member's name.
            key.append(.init(name, primitive(property) ?? .string))
        }
        var found = try EntitySet(name, key: key, properties: types, updatedAt: updatedAt)
        found.structured = Set(type.properties.map(\.name)).subtracting(found.types.keys)
        let (ignored, fixed) = (type.ignored(in: .creation), type.ignored(in: .update))
        let withheld = set.withheldFromCreations.union(ignored)
        found.assignedKey = withheld.intersection(type.key)
        found.notCreatable = withheld.subtracting(type.key)
        found.notUpdatable = set.withheldFromUpdates.union(fixed).subtracting(type.key)
        return found
    }

    /// The tables of the sets: a column for each primitive property. Sets that cannot be synced are left out.
    public var tables: [TableSchema] {
        sets.compactMap { set in
            guard let entitySet = try? entitySet(set.name), let type = try? whole(set.type) else { return nil }
            let columns = type.properties.compactMap { property -> TableSchema.Column? in
                guard property.name.text.lowercased() != "id", !property.name.text.hasPrefix("__") else { return nil }
                return TableSchema.Column(property.name, entitySet.types[property.name]?.column ?? .json)
            }
            return TableSchema(set.name, columns: columns)
        }
    }

    /// The columns that stay on the device: those annotated `ClientOnly`, by set.
    public var clientOnly: [String: Set<PropertyName>] {
        var found: [String: Set<PropertyName>] = [:]
        for set in sets {
            let names = (try? whole(set.type))?.properties.filter { $0.annotations.has("ClientOnly") }.map(\.name) ?? []
            if !names.isEmpty { found[set.name] = Set(names) }
        }
        return found
    }

    /// The sets whose rows stay on the device: those annotated `LocalDraft`, themselves or their types.
    public var localDrafts: Set<String> {
        Set(
            sets.filter {
                $0.annotations.has("LocalDraft") || (structure($0.type)?.annotations.has("LocalDraft") ?? false)
            }
            .map(\.name))
    }
}

extension EdmPrimitive {
    /// The type of a local store's column for it.
    var column: TableSchema.ColumnType {
        switch self {
        case .boolean: .boolean
        case .byte, .sbyte, .int16, .int32, .int64: .integer
        case .single, .double, .decimal: .real
        case .geographyPoint, .geometryPoint: .json
        case .dateTime, .dateTimeOffset: .date
        default: .string
        }
    }
}
