internal import SluiceCore

extension LocalStoreConformance {
    static let pages: [Check] =
        [
            Check("a page is put as its records are, hostile ones too") { store in
                try await store.define([ConformanceRecords.schema])
                let records = ConformanceRecords.everyValueEverywhere()
                try await comparePage(records, in: "typed", store)
                try await comparePage(records, in: "undeclared", store)
            }
        ]
        + [21, 22, 23].map { seed in
            Check("a page of random rows is put as its records are (seed \(seed))") { store in
                try await store.define([ConformanceRecords.schema])
                let records = ConformanceRecords.random(200, seed: UInt64(seed))
                try await comparePage(records, in: "typed", store)
                try await comparePage(records, in: "undeclared", store)
            }
        } + [
            Check("of a page only the chosen rows are put, and they replace what was there") { store in
                try await store.define([ConformanceRecords.schema])
                let old: [JSON] = [
                    ["id": "0", "string": "old", "other": 1], ["id": "1", "string": "old", "other": 1],
                ]
                try await roundTrip(old, in: "typed", store)
                let new: [JSON] = [["id": "0", "integer": 1], ["id": "1", "integer": 1], ["id": "2", "integer": 1]]
                let page = try makePage(new)
                try await store.write { try $0.put(RowPage.Selection(page, [1, 2]), in: "typed") }
                let found = try await store.read { try $0.records(matching: Query("typed")) }
                try expectSame(JSON(found), JSON([old[0], new[1], new[2]]), "after the page")
            }
        ]

    /// Puts the records as a page and one by one, and checks that rows and queries are the same.
    private static func comparePage(_ records: [JSON], in table: String, _ store: any LocalStore) async throws {
        let page = try makePage(records)
        try await store.write { try $0.put(RowPage.Selection(page, Array(page.rows.indices)), in: table) }
        let found = try await store.read { reader in
            try records.map { try reader.record($0["id"]?.string ?? "", in: table) }
        }
        for (record, found) in zip(records, found) { try expectSame(found, record, "a page in table \(table)") }
        let schema = table == ConformanceRecords.schema.name ? ConformanceRecords.schema : nil
        for name in ConformanceRecords.schema.columns.map(\.name) + ["undeclared"] {
            let query = Query(table, filter: .binary(.ne, .column(name), .literal(.null)), order: [.init(name)])
            let expected = try QueryEvaluator(query, schema: schema).apply(to: records).map { $0["id"] ?? .null }
            let queried = try await store.read { try $0.records(matching: query) }.map { $0["id"] ?? .null }
            try expect(queried == expected, "after a page, \(query) finds \(queried) and not \(expected)")
        }
    }

    /// The records as a server might send them: now with spaces, now with characters escaped.
    private static func makePage(_ records: [JSON]) throws -> RowPage {
        var text = "["
        for (index, record) in records.enumerated() {
            if index > 0 { text += index.isMultiple(of: 3) ? " ,\n " : "," }
            var row = record.description
            if index.isMultiple(of: 4) { row = row.replacing(letter: "n", by: "\\u006e") }
            text += row
        }
        return try RowPage(bytes: Array((text + "]").utf8))
    }
}

extension String {
    /// The JSON text with every such letter inside its strings written as an escape.
    fileprivate func replacing(letter: Character, by escape: String) -> String {
        var replaced = ""
        var isInString = false
        var isEscaped = false
        for character in self.unicodeScalars {
            if isInString, !isEscaped, character == letter.unicodeScalars.first {
                replaced += escape
            } else {
                replaced.unicodeScalars.append(character)
            }
            if isEscaped {
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isInString.toggle()
            }
        }
        return replaced
    }
}
