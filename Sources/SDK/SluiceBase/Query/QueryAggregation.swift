extension QueryTransformation {
    /// Applies the transformations to the records, in memory and in order.
    ///
    /// Groups come in the order of their first records. A sum of integers stays an integer within 64 bits.
    ///
    /// - Parameter schema: the columns of the records; nil if none are declared.
    /// - Throws: ``SluiceError`` of code `invalidQuery`; of code `unsupported` for ``other(_:_:)``, methods of the
    ///   service's own, and expressions that ``TableQuery.Evaluator`` refuses.
    public static func apply(
        _ transformations: [QueryTransformation], to records: [JSON], schema: TableSchema?
    ) throws(SluiceError) -> [JSON] {
        var (records, schema) = (records, schema)
        for transformation in transformations {
            records = try transformation.applied(to: records, &schema)
        }
        return records
    }

    private func applied(to records: [JSON], _ schema: inout TableSchema?) throws(SluiceError) -> [JSON] {
        switch self {
        case .identity: return records
        case .filter(let condition):
            let evaluator = try TableQuery.Evaluator(TableQuery("", filter: condition), schema: schema)
            return records.filter(evaluator.matches)
        case .search(let search): return records.filter(search.matches)
        case .order(let keys):
            return try TableQuery.Evaluator(TableQuery("", order: keys), schema: schema).apply(to: records)
        case .top(let number): return Array(records.prefix(number))
        case .skip(let number): return Array(records.dropFirst(number))
        case .compute(let properties):
            return try ODataOptions.ComputedProperty.adding(properties, to: records, schema)
        case .concat(let sequences):
            var all: [JSON] = []
            for sequence in sequences { all += try Self.apply(sequence, to: records, schema: schema) }
            schema = nil
            return all
        case .aggregate(let aggregates):
            let record = try Self.aggregated(records, aggregates, schema)
            schema = nil
            return [record]
        case .group(let paths, let then):
            let groups = try Self.groups(records, by: paths, then, schema)
            schema = nil
            return groups
        case .other(let name, _):
            throw SluiceError(.unsupported, "the transformation \(name) is read, but not run")
        }
    }

    private static func groups(
        _ records: [JSON], by paths: [[PropertyName]], _ then: [QueryTransformation], _ schema: TableSchema?
    ) throws(SluiceError) -> [JSON] {
        var keys: [JSON] = []
        var members: [JSON: [JSON]] = [:]
        for record in records {
            let key = JSON(paths.map { path in path.reduce(Optional(record)) { $0?[$1] } ?? .null })
            if members[key] == nil { keys.append(key) }
            members[key, default: []].append(record)
        }
        var output: [JSON] = []
        for key in keys {
            var common = JSON.object
            for (index, path) in paths.enumerated() { common.set(key[index] ?? .null, at: path[...]) }
            if then.isEmpty {
                output.append(common)
            } else {
                let results = try apply(then, to: members[key] ?? [], schema: schema)
                output += results.map { common.setting($0) }
            }
        }
        return output
    }

    private static func aggregated(
        _ records: [JSON], _ aggregates: [TableQuery.Aggregate], _ schema: TableSchema?
    ) throws(SluiceError) -> JSON {
        var output = JSON.object
        for aggregate in aggregates {
            guard let expression = aggregate.expression else {
                output[aggregate.name] = JSON(records.count)
                continue
            }
            let values = try QueryValues(expression, schema).values(of: records)
            output[aggregate.name] = try aggregate.method.result(of: values.filter { !$0.isNull })
        }
        return output
    }
}

extension TableQuery.Aggregate.Method {
    /// Returns the method's value for values other than null.
    fileprivate func result(of values: [QueryValue]) throws(SluiceError) -> JSON {
        switch self {
        case .count: return JSON(values.count)
        case .countDistinct: return JSON(Set(values.map(\.json)).count)
        case .sum: return Self.sum(values).json
        case .average:
            guard !values.isEmpty else { return .null }
            let count = QueryValue.real(Double(values.count))
            return QueryOperators.arithmetic(.divby, Self.sum(values), count).json
        case .min, .max:
            let wanted = self == .min ? -1 : 1
            let best = values.dropFirst().reduce(values.first) { best, value in
                guard let best else { return value }
                return QueryOperators.sortOrder(value, best) == wanted ? value : best
            }
            return best?.json ?? .null
        case .other(let name):
            throw SluiceError(.unsupported, "the aggregate method \(name) is read, but not run")
        }
    }

    private static func sum(_ values: [QueryValue]) -> QueryValue {
        values.dropFirst().reduce(values.first ?? .null) { QueryOperators.arithmetic(.add, $0, $1) }
    }
}

/// The values of an expression for records.
struct QueryValues {
    private let expression: TypedExpression

    init(_ expression: QueryExpression, _ schema: TableSchema?) throws(SluiceError) {
        do throws(QueryFault) {
            self.expression = try QueryChecker(schema: schema).expression(expression)
        } catch {
            throw error.error(table: schema?.name)
        }
    }

    func values(of records: [JSON]) -> [QueryValue] {
        records.map { QueryEvaluation.value(of: expression, $0, nil, nil) }
    }

    /// Returns the value as a record holds it: an object or a collection as a whole.
    func json(_ record: JSON) -> JSON {
        switch expression.node {
        case .column(let name, _): record[name] ?? .null
        case .path(let path, _): PathEvaluation(record, QueryScope(record), nil).json(of: path)
        default: QueryEvaluation.value(of: expression, record, nil, nil).json
        }
    }
}

extension QueryValue {
    /// The value as a record holds it; null for objects and arrays.
    var json: JSON {
        switch self {
        case .null, .other: .null
        case .bool(let value): JSON(value)
        case .integer(let value): JSON(value)
        case .real(let value): JSON(value)
        case .string(let value), .guid(let value): JSON(value)
        case .date(let value): JSON(value.description)
        case .time(let value): JSON(value.timeOfDayText)
        case .duration(let value): JSON(QueryDuration.text(value))
        case .point(let value):
            ["type": "Point", "coordinates": [JSON(value.longitude), JSON(value.latitude)]]
        }
    }
}

extension JSON {
    /// Sets the value at a path of names.
    fileprivate mutating func set(_ value: JSON, at path: ArraySlice<PropertyName>) {
        guard let name = path.first else { return self = value }
        var inner = self[name] ?? .object
        inner.set(value, at: path.dropFirst())
        self[name] = inner
    }
}

extension ODataOptions.ComputedProperty {
    /// Returns the records with the properties added; a later one may use an earlier one.
    static func adding(
        _ properties: [ODataOptions.ComputedProperty], to records: [JSON], _ schema: TableSchema?
    ) throws(SluiceError) -> [JSON] {
        var records = records
        for property in properties {
            let values = try QueryValues(property.expression, schema)
            for index in records.indices { records[index][property.name] = values.json(records[index]) }
        }
        return records
    }
}
