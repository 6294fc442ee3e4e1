/// Answers queries over records in memory: what every store must answer too, and what a store without a query language
/// of its own answers with.
///
/// ```swift
/// let evaluator = try QueryEvaluator(query, schema: schema)
/// let records = evaluator.apply(to: allRecords)
/// ```
public struct QueryEvaluator: Sendable {
    private let query: Query
    private let filter: TypedExpression?
    private let keys: [TypedExpression]

    /// Checks the query once, for any number of records.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` for a query that means nothing: a function with the wrong
    ///   number of arguments, an operator on what a declared column cannot be, nesting deeper than 64, a negative
    ///   `skip` or `top`.
    public init(_ query: Query, schema: TableSchema?) throws(SluiceError) {
        try self.init(query, schema: schema, undeclared: .allowed)
    }

    /// Checks the query as ``init(_:schema:)`` does, and its columns' names if it is to.
    ///
    /// - Throws: ``SluiceError`` of code `invalidQuery` also for a filter, an order or a selection that names an
    ///   undeclared column, if those are refused.
    package init(_ query: Query, schema: TableSchema?, undeclared: UndeclaredColumns) throws(SluiceError) {
        let checker = QueryChecker(schema: schema, undeclared: undeclared)
        self.query = query
        do throws(QueryFault) {
            if query.skip < 0 { throw QueryFault("skip is negative: \(query.skip)") }
            if let top = query.top, top < 0 { throw QueryFault("top is negative: \(top)") }
            if let filter = query.filter {
                self.filter = try checker.filter(filter)
            } else {
                self.filter = nil
            }
            var keys: [TypedExpression] = []
            for key in query.order { keys.append(try checker.column(key.column)) }
            self.keys = keys
            for name in query.select { _ = try checker.column(name) }
        } catch {
            throw error.error(table: query.table)
        }
    }

    /// Whether the record passes the query's filter.
    public func matches(_ record: JSON) -> Bool {
        guard let filter else { return true }
        return Self.value(of: filter, record).bool == true
    }

    /// The records that match, in the query's order and then by id, with `skip`, `top` and `select` applied.
    public func apply(to records: [JSON]) -> [JSON] {
        let matching = records.filter(matches).map { record in
            (record: record, values: keys.map { Self.value(of: $0, record) }, id: record["id"]?.string ?? "")
        }
        let sorted = matching.sorted { left, right in
            for (index, key) in query.order.enumerated() {
                let order = QueryOperators.sortOrder(left.values[index], right.values[index])
                if order != 0 { return key.descending ? order > 0 : order < 0 }
            }
            return QueryOperators.order(left.id, right.id) < 0
        }
        let page = sorted.dropFirst(query.skip).prefix(query.top ?? .max)
        return page.map { Self.selecting(query.select, from: $0.record) }
    }

    /// The record with the properties of that list alone, as far as it has them; whole if the list is empty.
    package static func selecting(_ names: [PropertyName], from record: JSON) -> JSON {
        if names.isEmpty { return record }
        var selected = JSON.object
        for name in names {
            if let value = record[name] { selected[name] = value }
        }
        return selected
    }

    private static func value(of expression: TypedExpression, _ record: JSON) -> QueryValue {
        let operands = expression.operands
        switch expression.node {
        case .constant(let value): return value
        case .column(let name, let type):
            return type.map { QueryValue(record[name], declared: $0) } ?? QueryValue(record[name])
        case .not: return value(of: operands[0], record).bool.map { .bool(!$0) } ?? .null
        case .negate: return QueryOperators.negate(value(of: operands[0], record))
        case .binary(let operation):
            switch operation {
            case .and: return both(operands, record, unless: false)
            case .or: return both(operands, record, unless: true)
            case .eq, .ne, .gt, .ge, .lt, .le:
                return .bool(
                    QueryOperators.compare(operation, value(of: operands[0], record), value(of: operands[1], record)))
            case .add, .sub, .mul, .div, .mod:
                return QueryOperators.arithmetic(
                    operation, value(of: operands[0], record), value(of: operands[1], record))
            }
        case .membership(let values):
            return .bool(QueryOperators.isMember(value(of: operands[0], record), of: values))
        case .call(let function):
            return QueryFunctions.value(of: function, operands.map { value(of: $0, record) })
        }
    }

    /// `and` and `or`: `deciding` on either side decides; else null on either side makes null.
    private static func both(_ operands: [TypedExpression], _ record: JSON, unless deciding: Bool) -> QueryValue {
        let left = value(of: operands[0], record).bool
        if left == deciding { return .bool(deciding) }
        let right = value(of: operands[1], record).bool
        if right == deciding { return .bool(deciding) }
        return left == nil || right == nil ? .null : .bool(!deciding)
    }
}
