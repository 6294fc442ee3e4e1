/// The tables that a query's paths lead to along navigation properties, and which of their records the query may see: for
/// a database that reads them as it looks at each record.
package struct QueryRelatives: Sendable, Hashable, QueryRelations {
    /// One of the tables.
    package struct Table: Sendable, Hashable {
        /// The columns that a query may name, and the navigation properties.
        package var schema: TableSchema
        /// All columns that are stored.
        package var stored: TableSchema
        /// Which records the query may see: none until that was found out.
        package var scope: QueryExpression

        /// A table of which no record may be seen yet.
        package init(schema: TableSchema, stored: TableSchema) {
            (self.schema, self.stored) = (schema, stored)
            scope = .literal(.bool(false))
        }
    }

    /// The table that is asked about, with its navigation properties.
    package var main: TableSchema
    /// The others, and it too where links lead back to it.
    package var tables: [String: Table]

    /// Tables by their names.
    package init(_ main: TableSchema, _ tables: [String: Table]) {
        (self.main, self.tables) = (main, tables)
    }

    package func schema(of table: String) -> TableSchema? { tables[table]?.schema }

    /// The database has them.
    package func records(of table: String, where column: PropertyName, equals value: JSON) -> [JSON] { [] }

    /// How many links a path may follow, one after the other.
    package static let mostSteps = 5

    /// The names of the tables that the query's paths lead to.
    ///
    /// - Throws: ``SluiceError`` of code `unsupported` for paths that follow more than ``mostSteps`` links, a link to many
    ///   records from each of many, or search what they count: these are not run. See ``QueryEvaluator`` for others.
    package func used(by query: Query) throws(SluiceError) -> Set<String> { try tree(of: query).tables }

    /// The links that the query's paths follow.
    ///
    /// - Throws: as ``used(by:)``.
    package func tree(of query: Query) throws(SluiceError) -> NavigationTree {
        let checker = QueryChecker(schema: main, relations: self)
        let tree = NavigationTree()
        do throws(QueryFault) {
            if let filter = query.filter { tree.note(try checker.filter(filter)) }
            for key in query.order { tree.note(try checker.key(key.expression)) }
        } catch {
            throw error.error(table: main.name)
        }
        try tree.check(steps: 0, isOfMany: false, main.name)
        return tree
    }
}

/// The links that an expression follows from a record, and from the records there.
package final class NavigationTree {
    package private(set) var branches: [(reference: TableSchema.Reference, tree: NavigationTree)] = []
    private var isSearched = false

    /// The tables that the links lead to.
    var tables: Set<String> {
        branches.reduce(into: []) { tables, branch in
            tables.insert(branch.reference.table)
            tables.formUnion(branch.tree.tables)
        }
    }

    /// Adds the links of an expression that is about a record.
    func note(_ expression: TypedExpression) { note(expression, item: self, variables: []) }

    private func note(
        _ expression: TypedExpression, item: NavigationTree?, variables: [(name: PropertyName, tree: NavigationTree?)]
    ) {
        switch expression.node {
        case .path(let path, _), .isElement(let path, _):
            var place: NavigationTree? =
                switch path.root {
                case .record: item
                case .it: self
                case .variable(let name): variables.last { $0.name == name }?.tree
                }
            for step in path.steps {
                switch step {
                case .property: place = nil
                case .navigation(let reference, _): place = place?.branch(reference)
                case .filter(let condition): note(condition, item: place, variables: variables)
                case .count(let condition, let search):
                    if search != nil { place?.isSearched = true }
                    if let condition { note(condition, item: place, variables: variables) }
                case .any(let variable, let condition):
                    if let condition { note(condition, item: item, variables: variables + [(variable, place)]) }
                case .all(let variable, let condition):
                    note(condition, item: item, variables: variables + [(variable, place)])
                }
            }
        default: break
        }
        for operand in expression.operands { note(operand, item: item, variables: variables) }
    }

    private func branch(_ reference: TableSchema.Reference) -> NavigationTree {
        if let known = branches.first(where: { $0.reference.name == reference.name }) { return known.tree }
        let tree = NavigationTree()
        branches.append((reference, tree))
        return tree
    }

    /// Each record has one other at the end of a link to one, and all records together have each record at the end of a
    /// link to many once. So what is read for a query is bounded by what there is, unless links to many follow each other.
    fileprivate func check(steps: Int, isOfMany: Bool, _ table: String) throws(SluiceError) {
        for (reference, tree) in branches {
            func fault(_ reason: String) -> SluiceError {
                SluiceError(.unsupported, "\(reference.name): \(reason)", table: table)
            }
            if steps >= QueryRelatives.mostSteps {
                throw fault("a path follows \(QueryRelatives.mostSteps) links at the most")
            }
            if isOfMany, reference.isCollection { throw fault("a link to many records is not followed from many") }
            if tree.isSearched { throw fault("$search within $count of linked records is not run") }
            try tree.check(steps: steps + 1, isOfMany: isOfMany || reference.isCollection, reference.table)
        }
    }
}
