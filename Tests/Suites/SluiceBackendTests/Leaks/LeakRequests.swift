import HTTPTypes
import SluiceCore

@testable import SluiceBackend

/// A request to one of the routes.
struct LeakRequest {
    var method: HTTPRequest.Method
    var path: String
    var body = ""
    var headers: [(String, String)] = []
}

/// Makes requests of every kind for a user. Two of the same seed draw the same, whatever the marks are.
struct LeakRequests {
    let marks: LeakMarks
    var random: SeededNumbers
    /// Counts values, so that no two are the same.
    private var count = 0

    init(_ marks: LeakMarks, seed: UInt64) {
        self.marks = marks
        random = SeededNumbers(seed: seed)
    }

    mutating func any(for user: LeakUser, _ known: LeakMemory) -> LeakRequest {
        switch random.next(20) {
        case 0...2: list(for: user)
        case 3: changes(for: user, known)
        case 4: lookup(for: user, known)
        case 5...8: change(for: user, known)
        case 9: digest()
        case 10: batch(for: user, known)
        case 11: followed(known)
        case 12...13: entities(for: user)
        case 14: part(for: user)
        case 15...17: entityChange(for: user, known)
        case 18: entityBatch(for: user, known)
        default: service(for: user)
        }
    }

    // MARK: What requests are made of

    mutating func id(_ table: String) -> String {
        if table == "numbers" { return "\(random.next(30) + 1)" }
        return random.next(8) == 0 ? "h\(random.next(8))" : "r\(random.next(16))"
    }

    mutating func table() -> String { random.pick(LeakWorld.all) }

    static func other(_ user: LeakUser) -> LeakUser { user == .ann ? .bob : .ann }

    mutating func value(_ user: LeakUser) -> String {
        count += 1
        return "\(marks.mark(user)) \(count)"
    }

    mutating func number(_ user: LeakUser) -> Int {
        count += 1
        return marks.number(user, count)
    }

    mutating func wire() -> [(String, String)] {
        random.pick([
            [("ZUMO-API-VERSION", "2.0.0")], [("ZUMO-API-VERSION", "3.0.0")], [], [("X-ZUMO-APPLICATION", "key")],
        ])
    }

    /// The content of a record, which may claim to be another's.
    mutating func content(_ user: LeakUser, _ table: String) -> String {
        // News are for everybody, and so are their values.
        if table == "news" { return #""text":"news \#(random.next(9))","number":\#(random.next(9)),"draft":false"# }
        var members = [#""text":"\#(value(user))","number":\#(number(user))"#]
        if random.next(4) == 0 { members.append(#""owner":"\#(LeakMarks.name(Self.other(user)))""#) }
        if table == "customers", random.next(8) == 0 { members[0] = #""text":"outside""# }
        if table == "orders" { members.append(#""customerId":"\#(id("customers"))""#) }
        if table == "kept" { members.append(#""inner":"\#(value(user))""#) }
        if ["notes", "plain"].contains(table), random.next(3) == 0 { members.append(#""p\#(marks.mark(user))":1"#) }
        return members.joined(separator: ",")
    }

    mutating func filter(_ user: LeakUser) -> String {
        let other = LeakMarks.name(Self.other(user))
        return random.pick([
            "text ne null", "startswith(text,'zq')", "owner eq '\(other)'", "true or owner eq '\(other)'",
            "not (owner eq '\(LeakMarks.name(user))')", "length(text) gt 12", "number gt 20", "number mod 2 eq 1",
            "id gt 'r5'", "deleted eq true", "endswith(text,'1')", "substringof('second',text)",
            "contains(text,'second')", "indexof(text,'b') ge 2", "owner ne null",
            "number lt 100 and length(text) lt 11", "text eq owner", "substring(text,2,3) eq 'bob'",
        ])
    }

    mutating func condition(_ table: String, _ id: String, _ known: LeakMemory) -> [(String, String)] {
        guard random.next(3) == 0 else { return [] }
        let name = random.pick(["If-Match", "If-None-Match"])
        return [(name, random.pick([known.versions["\(table)/\(id)"] ?? "\"AAAAAAAAAAAAAAAB\"", "*", "\"stale\""]))]
    }

    // MARK: The tables' wires

    private mutating func list(for user: LeakUser) -> LeakRequest {
        var options: [String] = []
        if random.next(2) == 0 { options.append("$filter=" + filter(user)) }
        if random.next(3) == 0 {
            options.append("$orderby=" + random.pick(["owner desc", "text", "number desc,id", "updatedAt", "id desc"]))
        }
        if random.next(4) == 0 { options.append("$top=\(random.next(4))") }
        if random.next(5) == 0 { options.append("$skip=\(random.next(4))") }
        if random.next(5) == 0 { options.append("$select=" + random.pick(["id", "text,owner", "number"])) }
        if random.next(3) == 0 { options.append(random.pick(["$inlinecount=allpages", "$count=true"])) }
        if random.next(4) == 0 { options.append("__includeDeleted=true") }
        if random.next(6) == 0 { options.append("__systemproperties=*") }
        return LeakRequest(
            method: .get, path: "/tables/\(table())?" + options.joined(separator: "&"), headers: wire())
    }

    private mutating func changes(for user: LeakUser, _ known: LeakMemory) -> LeakRequest {
        let table = table()
        var options = random.next(3) == 0 ? ["$filter=" + filter(user)] : []
        if random.next(4) > 0, let token = random.picked(known.tokens[table] ?? []) {
            options = ["$deltatoken=" + token]
        }
        if random.next(4) == 0 { options.append("__includeDeleted=true") }
        return LeakRequest(
            method: .get, path: "/tables/\(table)?" + options.joined(separator: "&"),
            headers: wire() + [("Prefer", "odata.track-changes")])
    }

    private mutating func lookup(for user: LeakUser, _ known: LeakMemory) -> LeakRequest {
        let table = table()
        let id = id(table)
        let option = random.pick(["", "?__includeDeleted=true", "?$select=text", "?__systemproperties=*"])
        return LeakRequest(
            method: .get, path: "/tables/\(table)/\(id)\(option)", headers: wire() + condition(table, id, known))
    }

    /// - Parameter named: whether a new record has its id in any case: those of a group run side by side, and the server
    ///   would give its ids in one order or the other.
    mutating func change(for user: LeakUser, _ known: LeakMemory, named: Bool = false) -> LeakRequest {
        let table = table()
        let id = id(table)
        var headers = wire() + condition(table, id, known)
        if random.next(5) == 0 {
            // Both users' clients count alike.
            headers.append(("Repeatability-Request-ID", "op-\(random.next(12))"))
            headers.append(("Repeatability-First-Sent", "Mon, 06 May 2024 07:08:00 GMT"))
        }
        let path = "/tables/\(table)/\(id)"
        let content = content(user, table)
        switch random.next(10) {
        case 0...3:
            let isUnnamed = random.next(6) == 0 && !named
            let named = table == "numbers" || isUnnamed ? "" : #""id":"\#(id)","#
            return LeakRequest(
                method: .post, path: "/tables/\(table)", body: "{\(named)\(content)}", headers: headers)
        case 4...5: return LeakRequest(method: .patch, path: path, body: "{\(content)}", headers: headers)
        case 6: return LeakRequest(method: .put, path: path, body: #"{"id":"\#(id)",\#(content)}"#, headers: headers)
        case 7: return LeakRequest(method: .delete, path: path, headers: headers)
        case 8: return LeakRequest(method: .post, path: path, headers: headers)
        default:
            let test = #"{"op":"test","path":"/text","value":"\#(value(user))"}"#
            let copy = #"{"op":"copy","from":"/owner","path":"/text"}"#
            let steps = random.pick([test, copy, #"{"op":"add","path":"/number","value":1}"#])
            return LeakRequest(
                method: .patch, path: path, body: "[\(steps)]",
                headers: [("ZUMO-API-VERSION", "3.0.0"), ("Content-Type", "application/json-patch+json")])
        }
    }

    private mutating func digest() -> LeakRequest {
        let option = random.pick(["", "?$filter=number gt 5", "?from=r1&to=r9", "?$filter=startswith(text,'zq')"])
        return LeakRequest(method: .get, path: "/tables/\(table())/$digest\(option)", headers: wire())
    }

    private mutating func batch(for user: LeakUser, _ known: LeakMemory) -> LeakRequest {
        let group = random.next(2) == 0 ? #","atomicityGroup":"g""# : ""
        var parts: [String] = []
        for number in 0..<(random.next(4) + 1) {
            let isRead = random.next(4) == 0 && group.isEmpty
            let request = isRead ? lookup(for: user, known) : change(for: user, known, named: !group.isEmpty)
            let body = request.body.isEmpty ? "" : #","body":\#(request.body)"#
            let headers = request.headers.map { #""\#($0.0)":"\#($0.1.replacing("\"", with: "\\\""))""# }
            parts.append(
                #"{"id":"\#(number)","method":"\#(request.method)","url":"\#(request.path.dropFirst())""#
                    + #","headers":{\#(headers.joined(separator: ","))}\#(body)\#(group)}"#)
        }
        return LeakRequest(
            method: .post, path: "/tables/$batch", body: #"{"requests":[\#(parts.joined(separator: ","))]}"#,
            headers: wire())
    }

    /// A link that an answer held: the user's own, and at times the other's.
    private mutating func followed(_ known: LeakMemory) -> LeakRequest {
        LeakRequest(method: .get, path: random.picked(known.links) ?? "/tables/notes", headers: wire())
    }
}

extension SeededNumbers {
    mutating func next(_ limit: Int) -> Int { next(below: limit) }

    /// One of `elements`, which are not empty.
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[next(elements.count)] }

    /// One of `elements`, if there are any; it draws in any case.
    mutating func picked<Element>(_ elements: [Element]) -> Element? {
        let index = next(max(1, elements.count))
        return elements.isEmpty ? nil : elements[index]
    }
}
