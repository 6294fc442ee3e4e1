internal import HTTPTypes
internal import SluiceCore

/// `$compute` with the options that may use its properties, `$filter` and `$orderby`. Each computed property is
/// replaced by its expression. (OData 4.01 Protocol, section 11.2.5.3.)
struct ComputedOptions {
    let properties: [ODataOptions.ComputedProperty]
    let filter: QueryExpression?
    let order: [TableQuery.SortKey]

    /// - Parameters:
    ///   - text: the value of `$compute`.
    ///   - given: the values of all options, by their names without the `$`.
    ///   - aliases: the values of the parameters that begin with `@`.
    ///   - schema: the table's schema with its links, which are not followed here.
    /// - Throws: ``Refusal`` (400) with the reason and the place; 501 for valid syntax that is not supported.
    init(
        _ text: String, _ given: [String: String], aliases: [(name: String, value: String)], _ table: TableRequest,
        _ schema: TableSchema
    ) throws {
        let undeclared = table.undeclaredColumns
        let names = try ListParameters.reading("$compute", unsupported: .notImplemented) {
            try ODataOptions([(name: "$compute", value: text)]).compute.map(\.name)
        }
        for name in names where schema.column(name) != nil || table.column(name) == nil {
            throw Refusal(.badRequest, "$compute: the name \(name.text) is taken")
        }
        let columns: ODataColumns = { name in
            if names.contains(name) { return name }
            guard let stored = table.column(name) else { return nil }
            return undeclared == .allowed || stored == "id" || schema.column(stored) != nil ? stored : nil
        }
        let values =
            ["compute", "filter", "orderby"].compactMap { name in
                given[name].map { (name: "$\(name)", value: $0) }
            } + aliases.filter { $0.name.hasPrefix("@") }
        do {
            let options = try ODataOptions(values, columns: columns)
            let read = try ODataRead(options, of: schema)
            (properties, filter, order) = (options.compute, read.query.filter, read.query.order)
            let links = Set(schema.references.map(\.name))
            for property in properties {
                if let link = property.expression.columns.intersection(links).first {
                    throw SluiceError(.unsupported, "$compute: the link \(link) is not followed here")
                }
            }
        } catch let error as TableQuery.SyntaxError {
            throw Refusal(error.isUnsupported ? .notImplemented : .badRequest, "\(error)")
        } catch let error as SluiceError {
            throw Refusal(error.code == .unsupported ? .notImplemented : .badRequest, error.message)
        }
    }

    /// Returns the records with the computed properties.
    static func adding(_ properties: [ODataOptions.ComputedProperty], to records: [JSON], of schema: TableSchema) throws
        -> [JSON]
    {
        guard !properties.isEmpty else { return records }
        var options = ODataOptions()
        options.compute = properties
        return try ODataRead(options, of: schema).answer(records)
    }
}
