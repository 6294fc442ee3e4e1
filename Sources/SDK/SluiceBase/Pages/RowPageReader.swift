/// Finds the rows of a page, and the engine's data in each row, on the page's tape. It builds no document, and only the
/// values that a row keeps become strings.
struct RowPageReader {
    let tape: JSONTape
    let bytes: UnsafeBufferPointer<UInt8>
    let table: String?
    private let allowsIntegerIDs: Bool
    private let requiresIDs: Bool
    private let setsAside: Bool
    /// The faults that the tape's reader passed over, in source order.
    private let faults: [JSONFault]
    /// The reasons against storing rows, by index.
    private(set) var problems: [Int: String] = [:]
    private let id: MemberName
    private let version: MemberName
    private let updatedAt: MemberName
    private let deleted: MemberName
    private let removed = MemberName("@removed")
    private let reason = MemberName("reason")

    init(
        tape: JSONTape, bytes: UnsafeBufferPointer<UInt8>, columns: SystemColumns, table: String?,
        allowsIntegerIDs: Bool = false, requiresIDs: Bool = true, setsAside: Bool = false, faults: [JSONFault] = []
    ) {
        self.faults = faults
        self.requiresIDs = requiresIDs
        self.setsAside = setsAside
        self.allowsIntegerIDs = allowsIntegerIDs
        self.tape = tape
        self.bytes = bytes
        self.table = table
        id = MemberName(columns.id.text)
        version = MemberName(columns.version.text)
        updatedAt = MemberName(columns.updatedAt.text)
        deleted = MemberName(columns.deleted.text)
    }

    /// Returns the token of the array of rows, and the answer's data on the whole query.
    func parts(_ shape: RowPage.Shape) throws(SluiceError) -> (rows: Int, count: Int?, nextLink: String?) {
        switch tape.tokens[0].kind {
        case .array: return (0, nil, nil)
        case .object: break
        default: throw failure("The server's answer is neither an array of rows nor an object that holds one.")
        }
        guard let rows = shape.rows.lazy.compactMap({ member($0) }).first else {
            let names = shape.rows.map { "“\($0)”" }.joined(separator: " or ")
            throw failure("The server's answer is an object without rows: a member \(names) is missing.")
        }
        guard tape.tokens[rows].kind == .array else {
            throw failure("The server's answer is an object whose rows are not an array.")
        }
        // The head of an answer is sent before its rows are read, so a later error is reported beside them.
        if RowPage.Shape.errors.contains(where: { member($0).map(holdsSomething) ?? false }) {
            throw SluiceError(
                .serverFailure, "The server's answer has an error beside its rows, so rows may be missing.",
                table: table)
        }
        return (rows, try count(shape.count), try nextLink(shape.nextLink))
    }

    /// Returns whether the value at that index of the tape is more than null, false, or empty.
    private func holdsSomething(_ index: Int) -> Bool {
        let value = tape.tokens[index]
        switch value.kind {
        case .null: return false
        case .bool: return value.flag
        case .string: return value.end > value.start
        case .array, .object: return Int(value.next) > index + 1
        default: return true
        }
    }

    /// Returns the token of the answer's member of that name.
    private func member(_ name: String) -> Int? {
        let name = MemberName(name)
        var key = 1
        while key < Int(tape.tokens[0].next) {
            let token = tape.tokens[key]
            if name.matches(token, bytes) { return key + 1 }
            key = Int(token.next)
        }
        return nil
    }

    private func count(_ name: String) throws(SluiceError) -> Int? {
        guard let index = member(name) else { return nil }
        let token = tape.tokens[index]
        if token.kind == .null { return nil }
        guard let count = integer(token) else {
            throw failure("The server's answer has a “\(name)” that is not an integer.")
        }
        // Some servers send -1 where nothing was counted.
        return count < 0 ? nil : Int(count)
    }

    private func integer(_ token: JSONTape.Token) -> Int64? {
        guard token.kind == .number else { return nil }
        return JSON.Number(valid: tape.bytes(token, in: bytes), hasFraction: token.flag).int
    }

    private func flag(_ token: JSONTape.Token) -> Bool? {
        switch token.kind {
        case .bool: token.flag
        case .number: integer(token).flatMap { JSON($0).flag }
        case .string: JSON(tape.text(token, in: bytes)).flag
        default: nil
        }
    }

    private func nextLink(_ name: String) throws(SluiceError) -> String? {
        guard let index = member(name) else { return nil }
        let token = tape.tokens[index]
        if token.kind == .null { return nil }
        guard token.kind == .string else { throw failure("The server's answer has a “\(name)” that is not text.") }
        let link = tape.text(token, in: bytes)
        return link.isEmpty ? nil : link
    }

    /// Returns the rows of the array with its token at `array`.
    mutating func rows(in array: Int) throws(SluiceError) -> [RowPage.Row] {
        let end = Int(tape.tokens[array].next)
        guard let first = faults.first?.start, let last = faults.last?.start else {
            return try rows(from: array, to: end)
        }
        let list = tape.tokens[array]
        guard list.start < first, last < list.end else {
            throw failure("The server's answer is not JSON outside its rows.")
        }
        return try rows(from: array, to: end)
    }

    private mutating func rows(from array: Int, to end: Int) throws(SluiceError) -> [RowPage.Row] {
        var rows: [RowPage.Row] = []
        var index = array + 1
        while index < end {
            rows.append(try row(at: index, number: rows.count))
            index = Int(tape.tokens[index].next)
            // Rows of one page are alike, so the first shows about how many there are.
            if rows.count == 1 { rows.reserveCapacity((end - array) / max(1, index - array - 1) + 1) }
        }
        return rows
    }

    private mutating func row(at index: Int, number: Int) throws(SluiceError) -> RowPage.Row {
        let object = tape.tokens[index]
        var row = RowPage.Row(id: "", version: nil, updatedAt: nil, isDeleted: false, token: index)
        guard object.kind == .object else { return try unfit(row, number, "is not an object") }
        var idKind: JSONTape.Kind?
        var problem: String?
        let fault = fault(in: object)
        var key = index + 1
        while key < Int(object.next) {
            let name = tape.tokens[key]
            let value = tape.tokens[key + 1]
            if id.matches(name, bytes) {
                // Of two ids neither is the row's.
                let isClear = idKind == nil && (fault == nil || self.fault(in: value) == nil)
                idKind = value.kind
                row.id = ""
                if value.kind == .string, isClear { row.id = .string(tape.text(value, in: bytes)) }
                if value.kind == .number, isClear, allowsIntegerIDs {
                    row.id = integer(value).map { .integer($0) } ?? ""
                }
            } else if version.matches(name, bytes) {
                if value.kind == .string { row.version = tape.text(value, in: bytes) }
                if value.kind != .string, value.kind != .null { problem = "has a “\(version.text)” that is not text" }
            } else if updatedAt.matches(name, bytes) {
                let isRepeated = row.updatedAt != nil
                row.updatedAt = value.kind == .string && !isRepeated ? tape.text(value, in: bytes) : nil
                if value.kind != .string, value.kind != .null {
                    problem = "has an “\(updatedAt.text)” that is not text"
                } else if setsAside, let time = row.updatedAt, Timestamp(time) == nil {
                    // Without a valid time the row's changes could never be tracked.
                    problem = "has an “\(updatedAt.text)” that is no time"
                }
            } else if deleted.matches(name, bytes) {
                let isDeleted = flag(value)
                row.isDeleted = isDeleted == true
                if isDeleted == nil, value.kind != .null {
                    problem = "has a “\(deleted.text)” that is neither true nor false"
                }
            } else if removed.matches(name, bytes) {
                row.leftQuery = isChange(key + 1)
            }
            key = Int(name.next)
        }
        if let fault { return try unfit(row, number, Self.reason(fault.kind)) }
        if !row.id.isEmpty || !requiresIDs {
            if setsAside, tape.deepest > JSON.maximumDepth, nests(index, deeperThan: JSON.maximumDepth) {
                problem = "nests deeper than \(JSON.maximumDepth) levels"
            }
            guard setsAside, let problem = problem ?? Self.problem(with: row.version) else { return row }
            return try unfit(row, number, problem)
        }
        switch idKind {
        case nil: return try unfit(row, number, "has no “\(id.text)”")
        case .string: return try unfit(row, number, "has an “\(id.text)” without a character")
        case .number:
            return try unfit(row, number, "has a number for its “\(id.text)”; only text can identify a row")
        case .null: return try unfit(row, number, "has null for its “\(id.text)”")
        default: return try unfit(row, number, "has an “\(id.text)” that is not text")
        }
    }

    /// Returns the first fault of the value.
    private func fault(in value: JSONTape.Token) -> JSONFault? {
        // A binary search: a hostile page may have as many faults as rows.
        var (low, high) = (0, faults.count)
        while low < high {
            let middle = (low + high) / 2
            if faults[middle].start < value.start { low = middle + 1 } else { high = middle }
        }
        return low < faults.count && faults[low].start <= value.end ? faults[low] : nil
    }

    private static func reason(_ fault: JSONFault.Kind) -> String {
        switch fault {
        case .unicode: "has a text that is no valid Unicode, such as half of an emoji"
        case .escape: "has a text that JSON does not allow, such as one with a line break that is not escaped"
        case .word: "has a value that JSON does not have, such as NaN"
        case .name: "has a member name twice"
        }
    }

    /// Returns whether the value at that index of the tape has more levels than that.
    private func nests(_ index: Int, deeperThan levels: Int) -> Bool {
        let value = tape.tokens[index]
        switch value.kind {
        case .deep: return true
        case .array, .object:
            if levels == 0 { return true }
            var child = index + 1
            while child < Int(value.next) {
                let isName = value.kind == .object
                if nests(isName ? child + 1 : child, deeperThan: levels - 1) { return true }
                child = Int(tape.tokens[child].next)
            }
            return false
        default: return false
        }
    }

    /// Returns the problem of a version that cannot be sent back in a header field.
    private static func problem(with version: String?) -> String? {
        guard let version, version.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        return "has a version with control characters"
    }

    /// Returns whether the value is `{"reason": "changed"}`: the row still exists, but has left the query (OData JSON
    /// format 4.01, section 15.3).
    private func isChange(_ index: Int) -> Bool {
        guard tape.tokens[index].kind == .object else { return false }
        var key = index + 1
        while key < Int(tape.tokens[index].next) {
            let value = tape.tokens[key + 1]
            if reason.matches(tape.tokens[key], bytes), value.kind == .string {
                return tape.text(value, in: bytes) == "changed"
            }
            key = Int(tape.tokens[key].next)
        }
        return false
    }

    /// Handles a row that cannot be stored: throws the page's error, or sets it aside under a distinct id.
    private mutating func unfit(
        _ row: RowPage.Row, _ number: Int, _ reason: String
    ) throws(SluiceError) -> RowPage.Row {
        guard setsAside else { throw failure(row: number, reason) }
        var row = row
        row.isUnfit = true
        problems[number] = "the row \(reason)"
        if row.id.isEmpty {
            let token = tape.tokens[row.token]
            let source = bytes[Int(token.start)..<Int(token.end)]
            row.id = "\u{0}\(String(FNV1a.hash(source), radix: 16))"
        }
        return row
    }

    private func failure(row: Int, _ reason: String) -> SluiceError {
        failure("Row \(row) (counted from 0) of the server's page \(reason).")
    }

    private func failure(_ message: String) -> SluiceError {
        SluiceError(.brokenProtocol, message, table: table)
    }
}

extension JSON {
    /// The meaning of the value as a flag, in the forms of servers that hand on what their databases hold: true, 1, "1"
    /// and "true", and their opposites; nil for any other value.
    package var flag: Bool? {
        if let bool { return bool }
        return switch string?.lowercased() ?? int.map(String.init) {
        case "1", "true": true
        case "0", "false": false
        default: nil
        }
    }
}

/// A name for comparisons with member names.
private struct MemberName {
    let text: String
    private let utf8: ContiguousArray<UInt8>

    init(_ text: String) {
        self.text = text
        utf8 = ContiguousArray(text.utf8)
    }

    /// Returns whether the key token has this name, after decoding its escapes.
    @inline(__always)
    func matches(_ key: JSONTape.Token, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        if key.flag {
            let name = UnsafeBufferPointer(rebasing: bytes[Int(key.start)..<Int(key.end)])
            return JSONEscape.decode(name).utf8.elementsEqual(utf8)
        }
        guard Int(key.end - key.start) == utf8.count else { return false }
        return utf8.withUnsafeBufferPointer { JSONText.equal(bytes, Int(key.start), $0) }
    }
}
