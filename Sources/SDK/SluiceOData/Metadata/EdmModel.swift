public import SluiceBase

/// A service's data model from `$metadata`: EDMX of v2, CSDL XML or CSDL JSON of v4.
public struct EdmModel: Sendable, Hashable {
    /// A remark on a part of the model: an `Annotation` of v4, or an attribute of another namespace, as SAP's services
    /// have them in v2 (`sap:updatable="false"`, with the term `sap:updatable`).
    public struct Annotation: Sendable, Hashable {
        /// The term, with its namespace or alias.
        public var term: String
        /// The value; `true` if none is written.
        public var value: JSON

        /// Creates an annotation.
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
        /// The largest number of characters or bytes.
        public var maxLength: Int?
        /// The largest number of digits.
        public var precision: Int?
        /// The number of digits after the point.
        public var scale: Int?
        /// The annotations of the property.
        public var annotations: [Annotation] = []

        /// Creates a property.
        public init(_ name: PropertyName, type: String) {
            self.name = name
            self.type = type
        }

        /// The type, if it is a primitive one.
        public var primitive: EdmPrimitive? { EdmPrimitive(rawValue: type) }
    }

    /// A navigation property, which leads to other entities.
    public struct Navigation: Sendable, Hashable {
        /// The name.
        public var name: PropertyName
        /// The full name of the target type.
        public var target: String
        /// Whether it leads to several entities.
        public var isCollection: Bool
        /// Pairs of a property of this type and the property of the target that has the same value.
        public var constraints: [Constraint] = []
        /// The annotations of the navigation property.
        public var annotations: [Annotation] = []

        /// A property of this type that has the value of a property of the target.
        public struct Constraint: Sendable, Hashable {
            /// The property of this type.
            public var property: PropertyName
            /// The property of the target.
            public var referenced: PropertyName
        }

        /// Creates a navigation property.
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
        /// The annotations of the type.
        public var annotations: [Annotation] = []

        /// Creates a type.
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

    /// An entity set, or a single entity (a singleton).
    public struct Container: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The full name of its entity type.
        public var type: String
        /// Whether it is a single entity.
        public var isSingleton = false
        /// The target set of each navigation property, by its path.
        public var bindings: [String: String] = [:]
        /// The annotations of the set.
        public var annotations: [Annotation] = []

        /// Creates a set.
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

    /// Creates an empty model.
    public init(version: ODataVersion) { self.version = version }

    /// Returns the type of that full name.
    public func structure(_ name: String) -> Structure? { structures.first { $0.name == name } }

    /// Returns the type with all inherited properties.
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

    /// Returns the primitive type of a property, also by way of a type definition; nil for any other.
    public func primitive(_ property: Property) -> EdmPrimitive? {
        property.primitive ?? definitions[property.type].flatMap(EdmPrimitive.init)
    }
}

extension [EdmModel.Annotation] {
    /// Whether an annotation has that term, in any namespace, and is not `false`.
    public func has(_ term: String) -> Bool { self[term].map { $0 != JSON(false) && $0 != JSON("false") } ?? false }

    /// Returns the value of the first annotation with that term, in any namespace.
    public subscript(term: String) -> JSON? {
        first { $0.term.split { $0 == "." || $0 == ":" }.last.map { $0 == term } ?? false }?.value
    }
}

/// The properties that a service ignores in changes: those that only it sets, or that are set once.
extension EdmModel.Property {
    /// A kind of change.
    enum Change {
        case creation
        case update

        /// The attribute of SAP's services for the permission to set a property in such a change.
        fileprivate var mark: String { self == .creation ? "creatable" : "updatable" }
    }

    /// Whether the service ignores the property's value in such a change (SAP's `sap:creatable` and `sap:updatable`;
    /// OData Core's Computed, Immutable and Permissions; SAP Common's FieldControl).
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
    /// The properties whose values the service ignores in such a change. If all properties are marked so, as SAP's
    /// tools do by default, the marks mean nothing and are disregarded.
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

/// The parts of a model that the wire and the local store use.
extension EdmModel {
    /// Returns the set for the wire; nil if the service has none of that name, or if it is a single entity.
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
            // An enumeration's value is written as its member's name.
            key.append(.init(name, primitive(property) ?? .string))
        }
        var found = try EntitySet(name, key: key, properties: types, updatedAt: updatedAt)
        for property in type.properties where found.types[property.name] == nil {
            found.structured[property.name] = EdmShape(property.type, in: self)
        }
        found.navigation = Set(type.navigation.map(\.name))
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
    /// The type of a local store's column for the primitive type.
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
