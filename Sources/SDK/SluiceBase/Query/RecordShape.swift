internal import Synchronization

/// The columns of a Codable type, with the Swift properties that they belong to.
///
/// They come from the type itself: it is decoded once from values without a meaning, and the decoder notes which keys
/// and types it is asked for. A property and its key have the same name, or the same place among the others
/// (`case text = "title"`).
package struct RecordShape: Sendable {
    /// A key of the type.
    package struct Column: Sendable {
        /// The key.
        package let name: PropertyName
        /// The type of its values.
        package let type: TableSchema.ColumnType
        fileprivate let valueType: ObjectIdentifier
        fileprivate let shape: RecordShape?
    }

    /// The columns in the order in which the type decodes them.
    package private(set) var columns: [Column] = []
    /// The columns by the names of their Swift properties.
    private var properties: [String: Column] = [:]

    /// Returns the shape of a type.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a type that cannot be decoded from values without a
    ///   meaning, for example because of an enumeration that is not `CaseIterable`.
    package static func of<Record: Decodable>(_ type: Record.Type) throws(SluiceError) -> RecordShape {
        let id = ObjectIdentifier(type)
        if let known = known.withLock({ $0[id] }) { return known }
        let shape = try RecordShape(type, depth: 0)
        known.withLock { $0[id] = shape }
        return shape
    }

    /// The shapes found so far, so that each type is decoded once.
    private static let known = Mutex<[ObjectIdentifier: RecordShape]>([:])
    /// The number of types in each other that are looked into: a type may contain itself.
    private static let mostDepth = 4

    private init<Record: Decodable>(_ type: Record.Type, depth: Int) throws(SluiceError) {
        let probe = ShapeProbe()
        let record: Record
        do { record = try Record(from: probe) } catch {
            let last = probe.keys.last.map { ", at “\($0.name)”" } ?? ""
            throw SluiceError(
                .invalidArgument,
                "the columns of \(type) cannot be read from the type\(last): state them in `static let columns`, or make its "
                    + "enumerations CaseIterable",
                cause: error)
        }
        for key in probe.keys where !columns.contains(where: { $0.name == PropertyName(key.name) }) {
            var shape: RecordShape?
            if depth < Self.mostDepth, !(key.type is any JSONSingleValue.Type) {
                shape = try? RecordShape(key.type, depth: depth + 1)
            }
            columns.append(
                Column(
                    name: PropertyName(key.name), type: ShapeProbe.columnType(of: key.type),
                    valueType: ObjectIdentifier(key.type),
                    shape: shape?.columns.isEmpty ?? true ? nil : shape))
        }
        name(
            the: Mirror(reflecting: record).children.compactMap { child in
                child.label.map { ($0, Swift.type(of: child.value)) }
            })
    }

    /// Finds the column of each Swift property, given in the order of the type.
    private mutating func name(the stored: [(label: String, type: any Any.Type)]) {
        var nameless = columns
        var unknown: [(label: String, type: any Any.Type)] = []
        for (label, type) in stored {
            // A property wrapper stores the property under another name.
            let name =
                label.hasPrefix("_") && !columns.contains { $0.name.text == label } ? String(label.dropFirst()) : label
            guard let index = nameless.firstIndex(where: { $0.name.text == name }) else {
                unknown.append((name, type))
                continue
            }
            properties[name] = nameless.remove(at: index)
        }
        guard unknown.count == nameless.count else { return }
        for (property, column) in zip(unknown, nameless) where Self.holds(property.type, column.valueType) {
            properties[property.label] = column
        }
    }

    private static func holds(_ property: any Any.Type, _ value: ObjectIdentifier) -> Bool {
        ObjectIdentifier((property as? any OptionalType.Type)?.wrapped ?? property) == value
    }

    /// Returns the name of the column of a property, and of a part of it for each further name; nil if there is none.
    package func column(named properties: [String]) -> PropertyName? {
        var shape: RecordShape? = self
        var names: [String] = []
        for property in properties {
            guard let column = shape?.properties[property] else { return nil }
            names.append(column.name.text)
            shape = column.shape
        }
        return PropertyName(names.joined(separator: "/"))
    }
}

extension AnyKeyPath {
    /// Returns the names of the properties along the key paths, each the path of a part of the one before; nil if one has
    /// another form. A key path prints as `\Todo.text`, or `\Person.address?.city?` (SE-0369).
    static func propertyNames(of paths: [AnyKeyPath]) -> [String]? {
        var names: [String] = []
        for path in paths {
            let (text, root) = (String(describing: path), "\\\(type(of: path).rootType).")
            guard text.hasPrefix(root) else { return nil }
            names += text.dropFirst(root.count).split(separator: ".", omittingEmptySubsequences: false).map { part in
                String(part.reversed().drop { $0 == "?" || $0 == "!" }.reversed())
            }
        }
        return names
    }
}

private protocol OptionalType { static var wrapped: any Any.Type { get } }

extension Optional: OptionalType {
    fileprivate static var wrapped: any Any.Type { Wrapped.self }
}
