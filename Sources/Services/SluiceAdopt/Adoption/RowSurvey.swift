internal import SluiceBase
internal import SluiceSQLite
internal import SluiceSync

/// One look at every row of an old store, so that nothing is refused in the midst of the adoption.
struct RowSurvey {
    /// The records with waiting changes, by the ids of their states.
    private(set) var changed: [RecordID: JSON] = [:]
    private(set) var tables: [AdoptionReport.Table] = []
    /// The records without a version and without changes, by table.
    private(set) var unversioned: [String: [RecordID]] = [:]
    private(set) var notes: [String] = []

    /// - Throws: ``SluiceError`` of code `unsupported` for a value that is not of its column's form, `invalidRecord` for
    ///   an id that no request can name.
    init(
        _ file: OldFile, _ mapper: TableMapper, _ queue: OldQueue, _ options: AdoptionOptions, _ columns: SystemColumns
    ) throws {
        let waiting = Set(
            queue.operations.compactMap { operation in
                mapper.map(operation.table).map { RecordState.id($0.name, operation.recordID) }
            })
        for map in mapper.maps {
            var (count, numbers) = (0, Set<String>())
            try file.forEachRow(of: map.source) { row in
                let record = try map.record(row, utc: options.utc)
                let id = RecordID(row.text(map.id) ?? "")
                try IDRules.validate(id: id, table: map.name)
                count += 1
                for column in map.columns where column.form == .text {
                    switch row.values[column.source] {
                    case .integer?, .real?: numbers.insert(column.source)
                    default: break
                    }
                }
                if waiting.contains(RecordState.id(map.name, id)) {
                    changed[RecordState.id(map.name, id)] = record
                } else if record[columns.version] == nil {
                    unversioned[map.name, default: []].append(id)
                }
            }
            tables.append(.init(table: map.name, oldTable: map.source, records: count))
            if let ids = unversioned[map.name] {
                notes.append(
                    "\(ids.count.counted("record")) of \(map.name) without a version: pull before changing one, or the change "
                        + "is sent without a condition")
            }
            for column in numbers.sorted() {
                notes.append(
                    "\(map.source).\(column) holds numbers where texts are declared: what was written as 007 is 7 there"
                )
            }
        }
    }
}
