public import SluiceCore

/// What a `SELECT` gave: the names of its columns, and its rows.
public struct SQLRows: Sendable, Hashable {
    /// The columns' names, in the statement's order. Two columns may have the same name.
    public var columns: [String]
    /// The rows, each with one value for each column.
    public var rows: [[JSON]]

    /// Rows.
    public init(columns: [String], rows: [[JSON]]) {
        self.columns = columns
        self.rows = rows
    }

    /// Each row as a JSON object, its members in the order of the columns. Where several columns have the same name,
    /// the second becomes `name:1`, the third `name:2`.
    public var objects: [JSON] {
        var names: [String] = []
        var taken: Set<[UInt8]> = []
        for column in columns {
            var name = column
            var number = 1
            while !taken.insert(Array(name.utf8)).inserted {
                name = "\(column):\(number)"
                number += 1
            }
            names.append(name)
        }
        return rows.map { JSON(members: zip(names, $0)) }
    }
}
