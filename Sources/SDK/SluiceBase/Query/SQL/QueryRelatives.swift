/// The tables at the ends of a query's navigation paths, and the conditions on their visible records. It is for a
/// database that reads them while it visits each record.
package struct QueryRelatives: Sendable, Hashable, TableQuery.Relations {
    /// One of the tables.
    package struct Table: Sendable, Hashable {
        /// The columns that a query may name, and the navigation properties.
        package var schema: TableSchema
        /// All stored columns.
        package var stored: TableSchema
        /// The condition on the records that the query may see: none until it is determined.
        package var scope: QueryExpression

        /// Creates a table without visible records so far.
        package init(schema: TableSchema, stored: TableSchema) {
            (self.schema, self.stored) = (schema, stored)
            scope = .literal(.bool(false))
        }
    }

    /// The queried table, with its navigation properties.
    package var main: TableSchema
    /// The other tables, and the queried one where links lead back to it.
    package var tables: [String: Table]

    /// Tables by their names.
    package init(_ main: TableSchema, _ tables: [String: Table]) {
        (self.main, self.tables) = (main, tables)
    }

    package func schema(of table: String) -> TableSchema? { tables[table]?.schema }

    /// Returns nothing, because the database reads the records.
    package func records(of table: String, where column: PropertyName, equals value: JSON) -> [JSON] { [] }

    /// The largest number of links that a path may follow.
    package static let mostSteps = 5

    /// Returns the names of the tables at the ends of the query's paths.
    ///
    /// - Throws: ``SluiceError`` of code `unsupported` for paths that follow more than ``mostSteps`` links, that follow
    ///   a link to many records from each of many, or that count with a search: these are not run. See
    ///   ``TableQuery.Evaluator`` for others.
    package func used(by query: TableQuery) throws(SluiceError) -> Set<String> { try tree(of: query).tables }

    /// Returns the links that the query's paths follow.
    ///
    /// - Throws: as ``used(by:)``.
    package func tree(of query: TableQuery) throws(SluiceError) -> NavigationTree {
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

    /// The tables at the ends of the links.
    var tables: Set<String> {
        branches.reduce(into: []) { tables, branch in
            tables.insert(branch.reference.table)
            tables.formUnion(branch.tree.tables)
        }
    }

    /// Adds the links of an expression about a record.
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

    /// Checks that the records read for a query are bounded by the stored ones. Each record has at most one other at
    /// the end of a link to one, and a link to many reaches each record once from all records together. Only successive
    /// links to many would exceed that.
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
