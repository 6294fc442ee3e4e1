internal import SluiceCore

/// What must hold for any bytes as a page of rows: the page reader, which works on the bytes, sees what the document
/// says.
enum PageFuzz {
    private static let azureV1 = SystemColumns(
        version: "__version", updatedAt: "__updatedAt", deleted: "__deleted")

    /// - Parameter document: what the bytes are as JSON, if they are JSON.
    static func check(_ input: [UInt8], _ document: JSON?) throws(FuzzFinding) {
        for columns in [SystemColumns(), azureV1] {
            for isStrict in [true, false] {
                let page: RowPage?
                do throws(SluiceError) {
                    page = try RowPage(
                        bytes: input, columns: columns, shape: .tables, allowsIntegerIDs: !isStrict,
                        requiresIDs: isStrict)
                } catch {
                    page = nil
                    let isSyntax = error.cause is JSON.ParseError
                    try demand(isSyntax == (document == nil), "the two readers differ on whether this is JSON")
                }
                let expected = document.flatMap { Expected($0, columns, isStrict: isStrict) }
                try compare(page, expected)
            }
        }
    }

    private static func compare(_ page: RowPage?, _ expected: Expected?) throws(FuzzFinding) {
        guard let page, let expected else {
            try demand(page == nil && expected == nil, "a page is \(page == nil ? "refused" : "accepted") wrongly")
            return
        }
        try demand(page.count == expected.count, "the count is \(page.count ?? -1)")
        try demand((page.nextLink ?? "").isExactly(expected.nextLink ?? ""), "the link is \(page.nextLink ?? "")")
        try demand(page.rows.count == expected.rows.count, "there are \(page.rows.count) rows")
        for (index, (row, wanted)) in zip(page.rows, expected.rows).enumerated() {
            let isSame =
                row.id == wanted.id && (row.version ?? "-").isExactly(wanted.version ?? "-")
                && (row.updatedAt ?? "-").isExactly(wanted.updatedAt ?? "-") && row.isDeleted == wanted.isDeleted
            try demand(isSame, "row \(index) is \(row)")
            try demand(page.record(at: index) == wanted.record, "row \(index) is another record")
        }
    }

    /// What a document says as a page.
    private struct Expected {
        struct Row {
            var record: JSON
            var id: RecordID
            var version: String?
            var updatedAt: String?
            var isDeleted: Bool
        }

        var rows: [Row] = []
        var count: Int?
        var nextLink: String?

        init?(_ document: JSON, _ columns: SystemColumns, isStrict: Bool) {
            guard let elements = (document["items"] ?? document["results"] ?? document).elements else { return nil }
            if document.kind == .object {
                if let count = document["count"], !count.isNull {
                    guard let number = count.int else { return nil }
                    self.count = number < 0 ? nil : Int(number)
                }
                if let link = document["nextLink"], !link.isNull {
                    guard let text = link.string else { return nil }
                    nextLink = text.isEmpty ? nil : text
                }
            }
            for record in elements {
                guard record.kind == .object else { return nil }
                var id = record[columns.id]?.textID ?? ""
                if !isStrict, let number = record[columns.id]?.int { id = .integer(number) }
                if isStrict && id.isEmpty { return nil }
                rows.append(
                    Row(
                        record: record, id: id, version: record[columns.version]?.string,
                        updatedAt: record[columns.updatedAt]?.string,
                        isDeleted: record[columns.deleted]?.bool == true))
            }
        }
    }
}
