internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// An operation as one line of text, with all data that another store needs to send it.
///
/// It holds records, the header fields that the application gave with them, and messages of the server. It holds no
/// credentials, and no bodies after filters, because these might contain some.
struct OperationDocument {
    /// The operation, without a meaningful sequence.
    var operation: TableOperation
    /// The record after the operation; nil where it is deleted.
    var after: JSON?
    /// The base of the record's oldest waiting change; only with the record's first operation.
    var base: JSON?
    /// The newest record known from the server; only with the record's first operation.
    var mirror: JSON?
    /// The number of operations in its group, this one included; nil without a group, and in a line without the
    /// number.
    var members: Int?

    private static let name = "operation"
    private static let format: Int64 = 1

    init(_ operation: TableOperation, after: JSON?, base: JSON?, mirror: JSON?, members: Int? = nil) {
        self.operation = operation
        self.after = after
        self.base = base
        self.mirror = mirror
        self.members = members
    }

    var json: JSON {
        var json: JSON = ["sluice": JSON(Self.name), "format": JSON(Self.format)]
        let record = operation.record
        for name in record.names where !["sent", "frozen", "overruled", "sequence"].contains(name) {
            if let value = record[name], !value.isNull { json[name] = value }
        }
        // A sent request may hold values that a filter has added.
        json["failure"]?["wireRequest"] = nil
        for (name, document) in [("after", after), ("base", base), ("mirror", mirror)] {
            if let document { json[name] = document }
        }
        if let members { json["members"] = JSON(members) }
        return json
    }

    /// Reads a line and trusts nothing in it.
    ///
    /// - Parameters:
    ///   - line: the line's number, from 1, for the error.
    ///   - system: the properties that only the server sets. They are removed from the record after the operation.
    init(parsing text: Substring, line: Int, system: Set<PropertyName>) throws(SluiceError) {
        func refuse(_ reason: String) -> SluiceError {
            SluiceError(.invalidRecord, "line \(line) is no operation that can be imported: \(reason)")
        }
        let json: JSON
        do throws(JSON.ParseError) { json = try JSON(parsing: Array(text.utf8)) } catch {
            throw refuse("it is not JSON")
        }
        guard json["sluice"]?.string == Self.name, json["format"]?.int == Self.format else {
            throw refuse("it is not of format \(Self.format)")
        }
        guard let id = json["id"]?.string, Self.isID(id) else { throw refuse("its id is missing or not allowed") }
        guard let table = json["table"]?.string, let recordID = json["record"]?.textID,
            let kind = json["kind"]?.string.flatMap(TableOperation.Kind.init)
        else { throw refuse("table, record or kind are missing or not known") }
        try SyncTables.validate(table)
        try IDRules.validate(id: recordID, table: table, isNew: kind == .insert)
        guard let createdAt = json["createdAt"]?.string.flatMap({ Timestamp($0) }),
            let state = json["state"]?.string.flatMap(TableOperation.State.init)
        else { throw refuse("its time or its state are missing or not known") }
        operation = TableOperation(
            id: id, sequence: 0, table: table, recordID: recordID, kind: kind, createdAt: createdAt)
        operation.state = state
        func count(_ name: String, _ standard: Int64) throws(SluiceError) -> Int {
            guard let value = json[name] else { return Int(standard) }
            guard let number = value.int, (standard...1_000_000_000).contains(number) else {
                throw refuse("its \(name) is no count")
            }
            return Int(number)
        }
        operation.revision = try count("revision", 1)
        operation.attempts = try count("attempts", 0)
        operation.failedAttempts = try count("failedAttempts", 0)
        operation.isUncertain = json["uncertain"]?.bool ?? false
        operation.isMergeable = json["mergeable"]?.bool ?? true
        operation.user = json["user"]?.string ?? ""
        operation.failure = json["failure"].flatMap(TableOperation.Failure.init(json:))
        operation.failure?.request = nil
        let tags = json["tags"]?.elements ?? []
        operation.tags = Set(tags.compactMap(\.string))
        guard tags.allSatisfy({ $0.string != nil }) else { throw refuse("a tag is not text") }
        guard let headers = HTTPFields(json: json["headers"]) else { throw refuse("a header field is not valid") }
        operation.headers = headers
        try OperationOptions(tags: operation.tags, headers: headers).validate(table: table)
        if let group = json["group"] {
            guard let group = group.string, Self.isID(group) else { throw refuse("its group is not allowed") }
            operation.group = group
            // Lines of versions before group counts have none.
            if json["members"] != nil { members = try count("members", 1) }
        }
        func document(_ name: String) throws(SluiceError) -> JSON? {
            guard let document = json[name], !document.isNull else { return nil }
            guard document.kind == .object, document["id"]?.textID == recordID else {
                throw refuse("“\(name)” is no record of that id")
            }
            return document
        }
        base = try document("base")
        mirror = try document("mirror")
        after = try document("after").map { RecordRules.withoutSystemColumns($0, system) }
        let hasBody = kind == .insert || kind == .update
        guard hasBody == (after != nil) || kind == .undelete else {
            throw refuse(hasBody ? "it has no body" : "a delete has no body")
        }
    }

    /// Refuses an operation that no context would make.
    static func validate(_ operation: TableOperation) throws(SluiceError) {
        try SyncTables.validate(operation.table)
        try IDRules.validate(
            id: operation.recordID, table: operation.table, isNew: operation.kind == .insert)
        guard isID(operation.id), operation.group.map(isID) ?? true, operation.revision > 0, operation.attempts >= 0
        else { throw SluiceError(.invalidRecord, "the id, group or a count of an operation is not allowed") }
    }

    /// Whether an id is allowed in header fields and files: letters, digits, `-`, `_` and `.`, up to 128.
    private static func isID(_ text: String) -> Bool {
        let bytes = text.utf8
        func isAllowed(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte &- 0x30 < 10
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
        }
        return (1...128).contains(bytes.count) && bytes.allSatisfy(isAllowed)
    }
}
