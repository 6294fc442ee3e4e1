internal import Foundation
internal import HTTPTypes
internal import SluiceCore

/// The start of a list's next page, in the link to it. In the order of ids it is an id, so that concurrent inserts and
/// deletes do not shift the page; otherwise it is a number of rows.
struct SkipToken: Sendable, Hashable {
    enum Start: Sendable, Hashable {
        case after(RecordID)
        case rows(Int)
        /// After a change, for a list in the order of changes.
        case change(String)
    }

    var place: Start
    /// The rest of `$top` for the following pages.
    var top: Int?

    init(_ place: Start, top: Int?) {
        self.place = place
        self.top = top
    }

    /// Reads a token.
    ///
    /// - Throws: ``Refusal`` (400) for an invalid token.
    init(_ text: String) throws(Refusal) {
        let refusal = Refusal(.badRequest, "$skiptoken is no token of this server")
        let bare = text.hasPrefix("'") && text.hasSuffix("'") ? String(text.dropFirst().dropLast()) : text
        guard bare.utf8.count < 4096, let bytes = Base64.bytes(bare), let json = try? JSON(parsing: bytes),
            let kind = json[0]?.string
        else { throw refusal }
        switch (kind, json[1]) {
        case ("id", .some(let value)):
            guard let id = value.string else { throw refusal }
            place = .after(.string(id))
        case ("rows", .some(let value)):
            guard let rows = value.int.flatMap({ Int(exactly: $0) }), (0...(1 << 53)).contains(rows) else {
                throw refusal
            }
            place = .rows(rows)
        case ("change", .some(let value)):
            guard let token = value.string else { throw refusal }
            place = .change(token)
        default: throw refusal
        }
        if let rest = json[2], !rest.isNull {
            guard let rows = rest.int.flatMap({ Int(exactly: $0) }), (0...(1 << 53)).contains(rows) else {
                throw refusal
            }
            top = rows
        }
    }

    var text: String {
        var json: JSON =
            switch place {
            case .after(let id): ["id", JSON(id.text)]
            case .rows(let rows): ["rows", JSON(rows)]
            case .change(let token): ["change", JSON(token)]
            }
        json.append(top.map { JSON($0) } ?? .null)
        return Base64.addressText(json.bytes())
    }

    /// The condition for the records after the token.
    func condition(_ set: EntitySet) -> QueryExpression? {
        guard case .after(let id) = place else { return nil }
        if set.hasIntegerIDs, let number = Int64(id.text) {
            return .binary(.gt, .column(SystemColumn.number), .literal(.number(JSON.Number(number))))
        }
        return .binary(.gt, .column("id"), .literal(.string(id.text)))
    }
}

/// Splits lists in OData's query options.
enum ODataList {
    /// Returns the trimmed parts between the separators outside of quotes and parentheses.
    static func split(_ text: String, by separator: Character) -> [String] {
        var parts = [""]
        var depth = 0
        var isQuoted = false
        for character in text {
            if character == "'" { isQuoted.toggle() }
            if !isQuoted {
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
                if character == separator, depth == 0 {
                    parts.append("")
                    continue
                }
            }
            parts[parts.count - 1].append(character)
        }
        return parts.map { part in
            let front = part.drop { $0 == " " }
            return String(front[..<(front.lastIndex { $0 != " " }.map(front.index(after:)) ?? front.endIndex)])
        }
    }

    /// Returns a name and the text in the parentheses after it; nil for a text without parentheses at its end.
    static func call(_ text: String) -> (name: String, inner: String)? {
        guard text.last == ")", let open = text.firstIndex(of: "(") else { return nil }
        return (String(text[..<open]), String(text[text.index(after: open)...].dropLast()))
    }
}
