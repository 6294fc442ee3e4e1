import SluiceCore
import SluiceTestSupport

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

/// What a pull asks for, in one spelling for all SDKs: `since 2000-01-01T00:00:00.000Z; filter …; order …; skip 2; top
/// 50`.
///
/// Left out is what means nothing: `$skip=0`, a time of 1970, and the id as the last key of an order.
enum PullRequestText {
    static func normal(_ text: String) -> String {
        let query = text.split(separator: "?", maxSplits: 1).last ?? ""
        // A row's text is decoded already; what is no query at all stays as it is.
        let isSent = text.hasPrefix("/")
        guard isSent || text.hasPrefix("$") else { return text }
        var parts: [String] = []
        var others: [String] = []
        for pair in parameters(query, isEncoded: isSent) {
            switch pair.name.lowercased() {
            case "$filter": parts += filter(pair.value)
            case "$orderby": if let order = order(pair.value) { parts.append(order) }
            case "$skip": if pair.value != "0" { parts.append("skip \(pair.value)") }
            case "$top": parts.append("top \(pair.value)")
            case "$count", "$inlinecount": others.append("count")
            case "__includedeleted": others.append("deleted ones too")
            default: others.append("\(pair.name)=\(pair.value)")
            }
        }
        return (parts + others.sorted()).joined(separator: "; ")
    }

    private static func parameters(_ query: Substring, isEncoded: Bool) -> [(name: String, value: String)] {
        query.split(separator: "&").map { pair in
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let (name, value) = (sides[0], sides.count > 1 ? sides[1] : "")
            return isEncoded
                ? (PercentEncoding.decoded(name), PercentEncoding.decoded(value)) : (String(name), String(value))
        }
    }

    private static func order(_ text: String) -> String? {
        guard var keys = try? TableQuery.order(odata: text) else { return "order \(text)" }
        if let last = keys.last, last.column == "id", !last.descending { keys.removeLast() }
        var query = TableQuery("")
        query.order = keys
        return keys.isEmpty ? nil : "order \(query.odataOrder)"
    }

    /// The filter's conditions: first from where the pull goes on, then the user's.
    private static func filter(_ text: String) -> [String] {
        guard let expression = try? QueryExpression(odata: text) else { return ["filter \(text)"] }
        var place: [String] = []
        var rest: [String] = []
        for condition in conditions(of: expression) {
            switch condition {
            case .binary(.ge, .column("updatedAt"), .literal(.date(let time))):
                if time.ticks != 0 { place.append("since \(time.text(fractionDigits: 3))") }
            case .binary(.gt, .column("updatedAt"), .literal(.date(let time))):
                place.append("after \(time.text(fractionDigits: 3))")
            case .binary(.eq, .column("updatedAt"), .literal(.null)): place.append("without a time")
            case .binary(.gt, .column("id"), .literal(.string(let id))): place.append("after \(id)")
            default: rest.append("filter \(condition.odata(.v3))")
            }
        }
        return place + rest
    }

    private static func conditions(of expression: QueryExpression) -> [QueryExpression] {
        if case .binary(.and, let left, let right) = expression { return conditions(of: left) + conditions(of: right) }
        return [expression]
    }
}
