internal import SluiceBase
internal import SluiceSync

/// An operation of an old queue, with all that its store tells of it.
struct OldOperation {
    /// Whether the operation reached the server, as far as the old store can tell.
    enum Sent: Hashable {
        /// Certainly not since it was last written.
        case no
        /// It may have been applied.
        case maybe
        /// The server answered with that status.
        case answered(Int)
    }

    /// The place of the version that the operation was made on.
    enum Base: Hashable {
        /// The row has it.
        case row
        /// The operation has it; nil for an operation without a condition.
        case version(String?)
    }

    /// The operation's id; nil in a format without ids that are unique.
    var id: String?
    /// The operation's number in the old queue, for formats without unique ids.
    var number: Int64 = 0
    let kind: TableOperation.Kind
    /// The table, as the operation names it.
    let table: String
    let recordID: RecordID
    var base = Base.row
    /// The record as the queue has it: for a delete the deleted one. Nil where the content is in the row alone.
    var item: JSON?
    /// Whether ``item`` is the whole content, whose missing properties have their default.
    var isWhole = false
    var sent = Sent.maybe
    /// The server's answer as text.
    var message: String?
    /// The server's record of the answer.
    var serverItem: JSON?
    /// A reason for which it is not to be sent any more.
    var leftOut: String?

    init(_ kind: TableOperation.Kind, table: String, recordID: RecordID) {
        (self.kind, self.table, self.recordID) = (kind, table, recordID)
    }
}

/// A delta token of an old store.
struct OldToken {
    /// The table, as the token names it.
    let table: String
    /// The old query's id; nil for a query that certainly was the whole table.
    let query: String?
    /// The time from which on the old client asked; nil where nothing was pulled.
    let time: Timestamp?
    /// The time by which the old one may be too late, because the client rounded it or asked for later times only.
    var slack = Duration.zero
    /// Whether ``table`` has the query's id too, after an underscore that nothing tells from others.
    var isJoined = false
}

/// The content of an old store's own tables.
struct OldQueue {
    /// The operations in the order in which the old client would have sent them.
    var operations: [OldOperation] = []
    var tokens: [OldToken] = []
    /// Facts about them for the user.
    var notes: [String] = []
}

extension OldRow {
    /// Returns the text of a column that no row lacks.
    func required(_ column: String) throws(SluiceError) -> String {
        guard let text = text(column), !text.isEmpty else { throw refusal(column, "text") }
        return text
    }

    /// Returns the meaning of a number.
    ///
    /// - Throws: ``SluiceError`` of code `unsupported` for a number that no version writes.
    func meaning<Meaning>(of column: String, _ known: [Int64: Meaning], _ name: String) throws(SluiceError) -> Meaning {
        guard let number = integer(column), let meaning = known[number] else { throw refusal(column, name) }
        return meaning
    }
}

/// The text of a server's answer, as old stores keep it.
enum OldAnswer {
    /// Returns the record in it; nil if it is none.
    static func record(_ text: String?) -> JSON? {
        guard let text, let json = try? JSON(parsing: text), json.kind == .object else { return nil }
        // Some servers put the record of a conflict into a member.
        for record in [json, json["serverItem"], json["value"]] {
            if let record, record["id"]?.textID != nil { return record }
        }
        return nil
    }

    /// Returns the server's message in it; nil if there is none.
    static func message(_ text: String?) -> String? {
        guard let text, !text.isEmpty else { return nil }
        guard let json = try? JSON(parsing: text), json.kind == .object else { return String(text.prefix(500)) }
        return json["error"]?.string ?? json["message"]?.string ?? json["error"]?["message"]?.string
    }
}
