internal import Synchronization

/// The columns of a Codable type, with the Swift properties that they belong to.
///
/// They come from the type itself. It is decoded once from samples, and the decoder notes which keys and types it is asked
/// for. Then one key after the other gets another sample: the property that changes belongs to the key. Neither names
/// nor their order prove that, because coding keys may have any.
package struct RecordShape: Sendable {
    /// A key of the type.
    package struct Column: Sendable {
        /// The key.
        package let name: PropertyName
        /// The type of its values.
        package let type: TableSchema.ColumnType
        fileprivate let shape: RecordShape?
    }

    /// The columns in the order in which the type decodes them.
    package private(set) var columns: [Column] = []
    /// The columns by the names of their Swift properties.
    private var properties: [String: Column] = [:]
    /// The documents that the type is decoded from.
    let samples: ShapeSamples

    /// Returns the shape of a type.
    ///
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a type that cannot be decoded from samples, for example
    ///   because of an enumeration that is not `CaseIterable`.
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
    static let mostDepth = 4

    init<Record: Decodable>(_ type: Record.Type, depth: Int) throws(SluiceError) {
        let probe = ShapeProbe(depth: depth)
        do { _ = try Record(from: probe) } catch {
            let place = probe.keys.last.map { ", at “\($0.name)”" } ?? ""
            throw SluiceError(
                .invalidArgument,
                "the columns of \(type) cannot be read from the type\(place): state them in `static let columns`, or make "
                    + "its enumerations CaseIterable", cause: error)
        }
        var (plain, others): (JSON, [PropertyName: JSON]) = (.object, [:])
        for key in probe.keys where !columns.contains(where: { $0.name == key.name }) {
            if key.isRequired { plain[key.name] = key.samples?.plain }
            others[key.name] = key.isRequired ? key.samples?.other : key.samples?.plain
            let shape = key.samples?.shape
            columns.append(Column(name: key.name, type: key.columnType, shape: shape))
        }
        var other: JSON?
        if let first = columns.first(where: { others[$0.name] != nil })?.name {
            other = plain
            other?[first] = others[first]
        }
        samples = ShapeSamples(plain: plain, other: other)
        assign(Record.self, plain, others)
    }

    /// Finds the column of each Swift property. Where no sample tells, the property of the column's own name is it.
    private mutating func assign<Record: Decodable>(
        _ type: Record.Type, _ plain: JSON, _ others: [PropertyName: JSON]
    ) {
        guard let stored = Self.properties(of: type, from: plain) else { return }
        var unproven: [Column] = []
        for column in columns {
            var document = plain
            document[column.name] = others[column.name]
            let changed = Self.properties(of: type, from: document) ?? [:]
            let differing = stored.keys.filter { changed[$0] != nil && changed[$0] != stored[$0] }
            if differing.count == 1 { properties[differing[0]] = column } else { unproven.append(column) }
        }
        for column in unproven where stored[column.name.text] != nil && properties[column.name.text] == nil {
            properties[column.name.text] = column
        }
    }

    /// Returns the stored properties of a decoded value by their names, each as text.
    private static func properties<Record: Decodable>(of type: Record.Type, from document: JSON) -> [String: String]? {
        guard let record = try? JSONRecordDecoder().decode(type, from: document) else { return nil }
        let children = Mirror(reflecting: record).children
        let named = children.compactMap { child in child.label.map { ($0, String(reflecting: child.value)) } }
        return Dictionary(named) { first, _ in first }
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
