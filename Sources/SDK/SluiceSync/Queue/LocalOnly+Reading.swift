package import SluiceBase

extension LocalOnly {
    /// Reads the member `local` of a table's settings: true for the whole table, or a list of columns.
    package mutating func read(_ place: StrictValue<some StrictSource>, of table: String) throws(SluiceError) {
        if let isWhole = try? place.flag() {
            if isWhole { tables.insert(table) }
            return
        }
        var names: Set<PropertyName> = []
        for name in try place.items() { names.insert(PropertyName(try name.text())) }
        columns[table] = names
    }
}
