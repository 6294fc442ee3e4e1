internal import Sluice

/// Records as aligned columns.
struct TextTable {
    /// The names over the columns.
    var head: [String]
    /// The cells, row by row.
    var rows: [[String]]

    init(head: [String], rows: [[String]]) {
        self.head = head
        self.rows = rows
    }

    /// Shows one record a row, one property a column; the id comes first.
    init(records: [JSON]) {
        var names: [PropertyName] = []
        var seen: Set<PropertyName> = []
        for record in records {
            for name in record.names where seen.insert(name).inserted { names.append(name) }
        }
        names = names.filter { $0 == "id" } + names.filter { $0 != "id" }
        self.init(
            head: names.map { Plain.line($0.text) }, rows: records.map { record in names.map { Self.cell(record[$0]) } }
        )
    }

    /// Returns the text of a value's cell: text bare, anything else as JSON, nothing if absent.
    static func cell(_ value: JSON?) -> String {
        guard let value else { return "" }
        return Plain.line(value.string ?? "\(value)")
    }

    /// Returns the lines. No cell is wider than `widest` characters.
    func lines(widest: Int = .max) -> [String] {
        let cut = ([head] + rows).map { row in row.map { $0.count > widest ? $0.prefix(widest - 1) + "…" : $0 } }
        let widths = head.indices.map { column in cut.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return cut.map { row in
            let cells = row.enumerated().map { column, cell in
                column == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
            }
            var line = cells.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
