internal import SluiceBase

extension StoreExport {
    /// The content that an export leaves out: all content of a table's records, or one property of them.
    ///
    /// It applies to every copy of such a record in the store: the table itself, the queue and its sent bodies, bases, the
    /// audit, rows in quarantine. Ids, kinds, states and times stay, so that an export still shows the waiting operations.
    public struct Redaction: Sendable, Hashable {
        /// The table.
        public var table: String
        /// The property; nil for all of them except the id.
        public var property: String?

        /// A redaction.
        public init(table: String, property: String? = nil) {
            self.table = table
            self.property = property
        }

        /// Reads `table` or `table.property`.
        ///
        /// - Throws: ``SluiceError`` of code `invalidArgument`.
        public init(_ text: String) throws {
            let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let table = parts.first, !parts.contains("") else {
                throw SluiceError(.invalidArgument, "what to leave out is written as TABLE or TABLE.PROPERTY")
            }
            self.init(table: table, property: parts.count > 1 ? parts[1] : nil)
        }

        var text: String { property.map { "\(table).\($0)" } ?? table }
    }
}

/// Removes the redacted content from the store's rows.
struct StoreRedactor: Sendable {
    private static let mark: JSON = "(left out)"

    private static let known = Set(SyncTables.all.map(\.name))

    private let whole: Set<ExactName>
    private var properties: [ExactName: Set<PropertyName>] = [:]

    init(_ redactions: [StoreExport.Redaction]) {
        whole = Set(redactions.filter { $0.property == nil }.map { ExactName($0.table) })
        for case let (table, property?) in redactions.map({ ($0.table, $0.property) }) {
            properties[ExactName(table), default: []].insert(PropertyName(property))
        }
    }

    /// Whether something of that table is left out.
    private func concerns(_ table: String) -> Bool {
        whole.contains(ExactName(table)) || properties[ExactName(table)] != nil
    }

    /// Returns a row of the store's table for the export; nil for a row to leave out.
    func shown(_ row: JSON, of table: String) -> JSON? {
        guard table.hasPrefix(SyncTables.prefix) else {
            return whole.contains(ExactName(table)) ? nil : record(row, of: table)
        }
        if whole.contains(ExactName(table)) { return nil }
        // Values of plugins may be about any record.
        if !(whole.isEmpty && properties.isEmpty), !Self.known.contains(table) { return nil }
        guard let about = RecordCopies.table(of: row), concerns(about) else {
            return row
        }
        return engineRow(row, about)
    }

    private func engineRow(_ row: JSON, _ table: String) -> JSON {
        var row = Self.hushed(RecordCopies.map(row) { copy, _ in record(copy, of: table) })
        row["operation"] = row["operation"].map(Self.hushed)
        // The bodies as sent: filters may have put a value under another name.
        if let bodies = row["bodies"]?.elements { row["bodies"] = JSON(bodies.map { _ in Self.mark }) }
        // Text in which no property can be found.
        for name in ["raw", "reason"] where row[name]?.string != nil { row[name] = Self.mark }
        return row
    }

    /// Hides a failure's message and final bodies: a server's message may quote the record, and filters may have
    /// renamed a value.
    private static func hushed(_ row: JSON) -> JSON {
        var row = row
        if var failure = row["failure"], failure.kind == .object {
            failure["message"] = mark
            row["failure"] = failure
        }
        if let sent = row["sent"]?.elements {
            row["sent"] = JSON(
                sent.map { body in
                    var body = body
                    if body["request"] != nil { body["final"] = mark }
                    return body
                })
        }
        return row
    }

    private func record(_ record: JSON, of table: String) -> JSON {
        guard record.kind == .object else { return record }
        let isWhole = whole.contains(ExactName(table))
        let named = properties[ExactName(table)] ?? []
        var shown = record
        for name in record.names where name != "id" && (isWhole || named.contains(name)) {
            shown[name] = Self.mark
        }
        return shown
    }
}
