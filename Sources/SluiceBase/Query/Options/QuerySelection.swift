/// What `$select` leaves of records.
struct QuerySelection: Sendable {
    /// One property, and what is left of it.
    private struct Part: Sendable {
        var path: [PropertyName]
        var elements: Elements?
    }

    /// What is asked of the elements of a collection, or selected of an object.
    private struct Elements: Sendable {
        var evaluator: QueryEvaluator
        var search: QuerySearch?
        var selection: Indirect
    }

    private final class Indirect: Sendable {
        let selection: QuerySelection
        init(_ selection: QuerySelection) { self.selection = selection }
    }

    private var parts: [Part] = []
    private var isWhole: Bool

    /// - Throws: ``SluiceError`` of code `unsupported` for annotations, types, operations and streams.
    init(_ items: [SelectItem], computed: [PropertyName] = []) throws(SluiceError) {
        isWhole = items.isEmpty
        for item in items {
            if item.path == [.all] {
                isWhole = true
                continue
            }
            let path = item.path.compactMap(\.property)
            guard path.count == item.path.count else {
                throw SluiceError(.unsupported, "\(item.odata) is read, but not selected")
            }
            parts.append(Part(path: path, elements: try Self.elements(item.options)))
        }
        if isWhole { parts.removeAll { $0.elements == nil } }
    }

    private static func elements(_ options: ODataOptions) throws(SluiceError) -> Elements? {
        var asked = options
        asked.aliases = [:]
        asked.count = nil
        if asked == ODataOptions() { return nil }
        guard asked.expand.isEmpty, asked.compute.isEmpty, asked.apply.isEmpty else {
            throw SluiceError(.unsupported, "$expand, $compute and $apply inside of $select are read, but not run")
        }
        let query = Query(
            "", filter: options.filter, order: options.order, skip: options.skip ?? 0, top: options.top)
        return Elements(
            evaluator: try QueryEvaluator(elements: query), search: options.search,
            selection: Indirect(try QuerySelection(options.select)))
    }

    func selected(_ records: [JSON]) throws(SluiceError) -> [JSON] {
        if isWhole && parts.isEmpty { return records }
        return records.map(selected)
    }

    private func selected(_ record: JSON) -> JSON {
        var output = isWhole ? record : JSON.object
        for part in parts { copy(part.path[...], part.elements, from: record, to: &output) }
        return output
    }

    private func copy(
        _ path: ArraySlice<PropertyName>, _ elements: Elements?, from record: JSON, to output: inout JSON
    ) {
        guard let name = path.first, let value = record[name] else { return }
        if path.count == 1 {
            output[name] = elements.map { Self.asked($0, of: value) } ?? value
        } else if let list = value.elements {
            let partial = output[name]?.elements ?? []
            output[name] = JSON(
                list.enumerated().map { index, element in
                    var inner = index < partial.count ? partial[index] : JSON.object
                    copy(path.dropFirst(), elements, from: element, to: &inner)
                    return inner
                })
        } else if value.kind == .object {
            var inner = output[name] ?? JSON.object
            copy(path.dropFirst(), elements, from: value, to: &inner)
            output[name] = inner
        } else {
            output[name] = value
        }
    }

    private static func asked(_ elements: Elements, of value: JSON) -> JSON {
        guard var list = value.elements else {
            return value.kind == .object ? elements.selection.selection.selected(value) : value
        }
        if let search = elements.search { list = list.filter(search.matches) }
        return JSON(
            elements.evaluator.page(of: list).map { element in
                element.kind == .object ? elements.selection.selection.selected(element) : element
            })
    }
}
