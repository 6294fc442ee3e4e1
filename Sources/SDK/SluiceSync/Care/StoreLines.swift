internal import SluiceBase

/// The lines of an export.
enum StoreLines {
    static let name = "store"
    static let format: Int64 = 1

    static func head(_ tables: [TableSchema], _ redactions: [StoreExport.Redaction]) -> JSON {
        var head: JSON = [
            "sluice": JSON(name), "format": JSON(format),
            "tables": JSON(
                tables.map { table -> JSON in
                    [
                        "name": JSON(table.name),
                        "columns": JSON(table.columns.map { JSON([JSON($0.name), JSON($0.type.rawValue)]) }),
                        "indexes": JSON(table.indexes.map { JSON($0.map { JSON($0) }) }),
                    ]
                }),
        ]
        if !redactions.isEmpty { head["leftOut"] = JSON(redactions.map { JSON($0.text) }) }
        return head
    }

    static func row(_ row: JSON, of table: String) -> JSON { ["table": JSON(table), "row": row] }

    static func end(rows: Int) -> JSON { ["end": JSON(rows)] }

    /// A line, parsed without trust in its content.
    enum Line {
        case head(tables: [TableSchema], isWhole: Bool)
        case row(JSON, table: String)
        case end(rows: Int64)

        init(_ text: String, number: Int) throws(SluiceError) {
            func refuse(_ reason: String) -> SluiceError {
                SluiceError(.invalidRecord, "line \(number) is no line of an export: \(reason)")
            }
            let json: JSON
            do throws(JSON.ParseError) { json = try JSON(parsing: Array(text.utf8)) } catch {
                throw refuse("it is not JSON")
            }
            if let rows = json["end"]?.int {
                self = .end(rows: rows)
            } else if let table = json["table"]?.string, let row = json["row"], row.kind == .object {
                self = .row(row, table: table)
            } else if json["sluice"]?.string == StoreLines.name {
                guard let format = json["format"]?.int, format <= StoreLines.format else {
                    throw refuse("its format is newer than \(StoreLines.format)")
                }
                var tables: [TableSchema] = []
                for table in json["tables"]?.elements ?? [] {
                    guard let schema = Self.schema(table) else { throw refuse("it declares a table that is not valid") }
                    tables.append(schema)
                }
                self = .head(tables: tables, isWhole: json["leftOut"] == nil)
            } else {
                throw refuse("it has neither a head, nor a row, nor an end")
            }
        }

        private static func schema(_ json: JSON) -> TableSchema? {
            guard let name = json["name"]?.string else { return nil }
            var schema = TableSchema(name)
            for column in json["columns"]?.elements ?? [] {
                guard let name = column[0]?.string,
                    let type = column[1]?.string.flatMap(TableSchema.ColumnType.init)
                else { return nil }
                schema.columns.append(.init(PropertyName(name), type))
            }
            for index in json["indexes"]?.elements ?? [] {
                guard let names = index.elements, names.allSatisfy({ $0.string != nil }) else { return nil }
                schema.indexes.append(names.compactMap { $0.string.map(PropertyName.init) })
            }
            return schema
        }
    }
}
