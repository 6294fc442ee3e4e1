internal import HTTPTypes
internal import SluiceCore

/// The part of a query that concerns the fields of codecs: the constants that a filter compares with them.
///
/// The server's values have another order, and no part of one means the same. So only `eq`, `ne` and `in` with constants
/// can be translated. Null is null on both sides.
struct CodecQuery {
    let codecs: [FieldCodec]
    let table: String
    let style: ODataOptions.Style

    /// Replaces the constants by the server's values.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` that names the plugin and the field, for a query that the server
    ///   cannot answer; of code `filter` for a constant that cannot be translated.
    func translate(_ request: inout SyncRequest) async throws {
        guard let path = request.head.path, path.contains("?"), !request.context.isLinked else { return }
        var query = QueryString(ofPath: path)
        var isChanged = false
        for name in query.parts.map({ QueryString.name(of: $0) }) where name.hasPrefix("$") {
            guard let text = query[name] else { continue }
            switch name.lowercased() {
            case "$filter":
                guard let changed = try await translated(text, request) else { continue }
                query[name] = changed
                isChanged = true
            case "$orderby": try refuse(sorted(by: text), "nothing can be sorted by it")
            case "$apply", "$compute": try refuse(mentioned(in: text), "nothing can be calculated with it")
            default: break
            }
        }
        if isChanged { request.head.path = query.path }
    }

    /// Returns the filter with the server's values; nil for an unchanged one.
    private func translated(_ text: String, _ request: SyncRequest) async throws -> String? {
        guard var filter = try? QueryExpression(odata: text, maximumLength: ODataOptions.maximumLength) else {
            try refuse(mentioned(in: text), "this filter cannot be read")
            return nil
        }
        var isChanged = false
        for codec in codecs {
            var constants = ComparedConstants(names: codec.names(in: table))
            _ = constants.replaced(in: filter)
            if let field = constants.refused {
                throw refusal(codec, field, "a filter can compare it by eq, ne and in with constants alone")
            }
            guard let first = constants.values.first else { continue }
            if !codec.allowsFilters { throw refusal(codec, first.field, "a filter can compare it with null alone") }
            do {
                constants.replacements = try await codec.translated(constants.values, .toWire, in: table)
            } catch let failure as FieldValues.Failure {
                throw codec.error(failure, constants.values[failure.index].field, nil, request)
            } catch let failure as PluginFailure {
                throw SluiceError(plugin: failure, about: request)
            }
            filter = constants.replaced(in: filter)
            if let field = constants.refused {
                throw refusal(codec, field, "to_wire returned a list or an object, which no filter can hold")
            }
            isChanged = true
        }
        return isChanged ? filter.odata(style) : nil
    }

    /// Returns the names in an order; those mentioned in one that cannot be read.
    private func sorted(by text: String) -> Set<PropertyName> {
        guard let options = try? ODataOptions([(name: "$orderby", value: text)]) else { return mentioned(in: text) }
        return options.order.reduce(into: []) { $0.formUnion($1.expression.columns) }
    }

    private func mentioned(in text: String) -> Set<PropertyName> {
        Set(codecs.flatMap { $0.names(in: table) }.filter { text.contains($0.text) })
    }

    private func refuse(_ columns: Set<PropertyName>, _ reason: String) throws(SluiceError) {
        for codec in codecs {
            if let field = codec.names(in: table).intersection(columns).min() { throw refusal(codec, field, reason) }
        }
    }

    private func refusal(_ codec: FieldCodec, _ field: PropertyName, _ reason: String) -> SluiceError {
        SluiceError(
            .invalidQuery, "plugin \(codec.name): the server has other values of the field \(field): \(reason)",
            table: table)
    }
}

/// The constants that a filter compares with the fields of a codec. They are collected first, and replaced once their
/// replacements are known.
struct ComparedConstants {
    private let names: Set<PropertyName>
    /// The constants other than null, in the order of the filter.
    private(set) var values: [FieldValues.Value] = []
    /// The server's values of the constants; nil while they are collected.
    var replacements: [JSON]? { didSet { next = 0 } }
    /// A field that is used in another way, or whose replacement is no constant.
    private(set) var refused: PropertyName?
    private var next = 0

    init(names: Set<PropertyName>) { self.names = names }

    /// Returns the expression with the replacements.
    mutating func replaced(in expression: QueryExpression) -> QueryExpression {
        let columns = expression.columns.intersection(names)
        if columns.isEmpty { return expression }
        switch expression {
        case .binary(.and, let left, let right):
            let first = replaced(in: left)
            return .binary(.and, first, replaced(in: right))
        case .binary(.or, let left, let right):
            let first = replaced(in: left)
            return .binary(.or, first, replaced(in: right))
        case .unary(.not, let operand): return .unary(.not, replaced(in: operand))
        case .binary(let operation, .column(let name), .literal(let literal)) where Self.equates(operation):
            return .binary(operation, .column(name), .literal(constant(literal, name)))
        case .binary(let operation, .literal(let literal), .column(let name)) where Self.equates(operation):
            return .binary(operation, .literal(constant(literal, name)), .column(name))
        case .membership(.column(let name), let literals):
            var replaced: [TableQuery.Literal] = []
            for literal in literals { replaced.append(constant(literal, name)) }
            return .membership(.column(name), replaced)
        default:
            refused = refused ?? columns.min()
            return expression
        }
    }

    private static func equates(_ operation: QueryExpression.BinaryOperator) -> Bool {
        operation == .eq || operation == .ne
    }

    private mutating func constant(_ literal: TableQuery.Literal, _ name: PropertyName) -> TableQuery.Literal {
        let value: JSON
        switch literal {
        case .null: return .null
        case .string(let text), .guid(let text): value = JSON(text)
        case .number(let number): value = JSON(number)
        case .bool(let flag): value = JSON(flag)
        default:
            refused = refused ?? name
            return literal
        }
        guard let replacements else {
            values.append(FieldValues.Value(name, value))
            return literal
        }
        let replacement = replacements[next]
        next += 1
        if replacement == value { return literal }
        switch replacement.kind {
        case .null: return .null
        case .string: return .string(replacement.string ?? "")
        case .bool: return .bool(replacement.bool ?? false)
        case .number: if let number = replacement.number { return .number(number) }
        case .array, .object: break
        }
        refused = refused ?? name
        return literal
    }
}
