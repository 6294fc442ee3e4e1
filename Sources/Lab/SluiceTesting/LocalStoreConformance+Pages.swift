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
        }
        + [31, 32].map { seed in
            Check("a page with changed rows is put as the records that they come to (seed \(seed))") { store in
                try await store.define([ConformanceRecords.schema])
                try await compareRevised(seed: UInt64(seed), in: "typed", store)
                try await compareRevised(seed: UInt64(seed), in: "undeclared", store)
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
                let found = try await store.read { try $0.records(matching: TableQuery("typed")) }
                try expectSame(JSON(found), JSON([old[0], new[1], new[2]]), "after the page")
            }
        ]

    /// Writes the records as a page, and checks that rows and queries equal those of the records put one by one.
    private static func comparePage(_ records: [JSON], in table: String, _ store: any LocalStore) async throws {
        let page = try makePage(records)
        try await store.write { try $0.put(RowPage.Selection(page, Array(page.rows.indices)), in: table) }
        let found = try await store.read { reader in
            try records.map { try reader.record($0["id"]?.textID ?? "", in: table) }
        }
        for (record, found) in zip(records, found) { try expectSame(found, record, "a page in table \(table)") }
        let schema = table == ConformanceRecords.schema.name ? ConformanceRecords.schema : nil
        for name in ConformanceRecords.schema.columns.map(\.name) + ["undeclared"] {
            let query = TableQuery(table, filter: .binary(.ne, .column(name), .literal(.null)), order: [.init(name)])
            let expected = try TableQuery.Evaluator(query, schema: schema).apply(to: records).map { $0["id"] ?? .null }
            let queried = try await store.read { try $0.records(matching: query) }.map { $0["id"] ?? .null }
            try expect(queried == expected, "after a page, \(query) finds \(queried) and not \(expected)")
        }
    }

    /// Writes a page of unchanged rows mixed with rows that have some members, or all, of other records.
    private static func compareRevised(seed: UInt64, in table: String, _ store: any LocalStore) async throws {
        let came = ConformanceRecords.everyValueEverywhere() + ConformanceRecords.random(200, seed: seed)
        let others = ConformanceRecords.random(came.count, seed: seed + 1000)
        let pairs = zip(came, others).enumerated().map { index, pair -> (revision: RowPage.Revision?, record: JSON) in
            let record = pair.0
            var other = pair.1
            other["id"] = index.isMultiple(of: 2) ? nil : record["id"]
            switch index % 4 {
            case 0, 1: return (.members(other), record.setting(other))
            case 2:
                other["id"] = record["id"]
                return (.record(other), other)
            default: return (nil, record)
            }
        }
        let expected = pairs.map(\.record)
        let page = try makePage(came).revised(pairs.map(\.revision))
        try await store.write { try $0.put(RowPage.Selection(page, Array(page.rows.indices)), in: table) }
        let found = try await store.read { reader in
            try expected.map { try reader.record($0["id"]?.textID ?? "", in: table) }
        }
        for (record, found) in zip(expected, found) { try expectSame(found, record, "a changed row in \(table)") }
    }

    /// Returns the records as a server might send them: some rows with spaces, some with escaped characters.
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
    /// Returns the JSON text with every such letter inside its strings written as an escape.
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
