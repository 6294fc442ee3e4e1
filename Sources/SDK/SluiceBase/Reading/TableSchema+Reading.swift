extension TableSchema {
    /// Reads columns and indexes from the members of a table's settings.
    ///
    /// ```yaml
    /// columns: { title: string, year: integer }
    /// indexes: [year, [rating, title]]
    /// ```
    package init<Source>(_ name: String, _ members: [String: StrictValue<Source>]) throws(SluiceError) {
        self.init(name)
        if let place = members["columns"] { columns = try Self.columns(place) }
        indexes = try members["indexes"]?.lists().map { $0.map { PropertyName($0) } } ?? []
    }

    /// Reads columns: a type for each name.
    package static func columns(_ place: StrictValue<some StrictSource>) throws(SluiceError) -> [Column] {
        var columns: [Column] = []
        for (name, type) in try place.entries() {
            columns.append(Column(PropertyName(name), try type.choice(ColumnType.self)))
        }
        return columns
    }
}
