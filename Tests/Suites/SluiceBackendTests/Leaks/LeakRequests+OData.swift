import HTTPTypes
import SluiceCore

@testable import SluiceBackend

/// The same for the OData services.
extension LeakRequests {
    private mutating func root() -> String { random.pick(["/odata/v4/", "/odata/v4/", "/odata/v2/"]) }

    private mutating func form() -> [(String, String)] {
        random.pick([
            [], [], [("Accept", "application/json;odata.metadata=full")], [("Accept", "application/atom+xml")],
            [("MaxDataServiceVersion", "1.0")], [("OData-MaxVersion", "4.0")],
        ])
    }

    private mutating func linkFilter(_ user: LeakUser, _ table: String) -> String {
        let other = LeakMarks.name(Self.other(user))
        return switch table {
        case "orders":
            random.pick([
                "customer/text ne null", "contains(customer/text,'second')", "customer/number mod 2 eq 1",
                "substringof('second',customer/text)", "contains(customer/text,'hidden')",
                "customer/owner eq '\(other)'",
                "customer/number gt 20", "length(customer/text) gt 11", "customer/text eq text",
                "customer/orders/any(o:o/number gt 5)", "customer/orders/$count gt 1",
            ])
        case "customers":
            random.pick([
                "orders/any()", "orders/any(o:contains(o/text,'second'))", "orders/any(o:o/number mod 2 eq 1)",
                "orders/$count($filter=contains(text,'second')) gt 0", "orders/any(o:o/owner eq '\(other)')",
                "orders/all(o:o/number gt 5)",
                "orders/$count gt 1", "orders/any(o:startswith(o/text,'zq'))", "orders/any(o:length(o/text) gt 11)",
            ])
        default: filter(user)
        }
    }

    mutating func entities(for user: LeakUser) -> LeakRequest {
        let table = random.next(3) > 0 ? random.pick(["orders", "customers"]) : table()
        var options: [String] = []
        if random.next(3) > 0 {
            options.append("$filter=" + (random.next(3) == 0 ? filter(user) : linkFilter(user, table)))
        }
        if random.next(3) == 0 {
            let links = table == "orders" ? ["customer/text desc", "customer/number"] : ["orders/$count desc"]
            options.append("$orderby=" + random.pick(["owner desc", "text", "number desc"] + links))
        }
        if random.next(3) == 0, ["orders", "customers"].contains(table) {
            options.append(
                "$expand="
                    + random.pick(
                        table == "orders"
                            ? [
                                "customer", "customer($expand=orders)", "*", "customer($select=text)",
                                "customer/orders",
                            ]
                            : [
                                "orders", "orders($count=true;$orderby=text)", "orders($filter=number gt 3)", "*",
                                "orders($expand=customer)", "orders/customer",
                            ]))
        }
        if random.next(4) == 0 { options.append("$top=\(random.next(4))") }
        if random.next(4) == 0 { options.append("$skip=\(random.next(3))") }
        if random.next(4) == 0 { options.append(random.pick(["$count=true", "$inlinecount=allpages"])) }
        if random.next(8) == 0 { options.append("$select=" + random.pick(["text", "id,owner", "number"])) }
        var path = root() + table
        switch random.next(9) {
        case 0: path += "/$count"
        case 1: options.append("$search=" + random.pick(["zqbob", "NOT x", "zqann OR zqbob", "outside"]))
        case 2: options.append("$compute=concat(text,'!') as loud,number mul 2 as twice")
        case 3:
            options = [
                "$apply="
                    + random.pick([
                        "aggregate(number with sum as s,number with max as m)", "groupby((owner))",
                        "groupby((text),aggregate($count as c))", "aggregate($count as c)",
                        "filter(number gt 3)/aggregate(text with max as m)", "search(zq)/aggregate($count as c)",
                        "aggregate(text with countdistinct as d)", "orderby(number desc)/top(2)",
                    ])
            ]
        case 4:
            let query = options.isEmpty ? "$filter=true" : options.joined(separator: "&")
            return LeakRequest(
                method: .post, path: "/odata/v4/\(table)/$query", body: query,
                headers: [("Content-Type", "text/plain")])
        case 5:
            return LeakRequest(
                method: .get, path: path + (options.first.map { "?\($0)" } ?? ""),
                headers: form() + [("Prefer", "odata.track-changes,odata.maxpagesize=3")])
        default: break
        }
        return LeakRequest(method: .get, path: path + "?" + options.joined(separator: "&"), headers: form())
    }

    private mutating func key(_ table: String) -> String {
        let id = id(table)
        return table == "numbers" ? "\(table)(\(id))" : "\(table)('\(id)')"
    }

    /// An entity, or a part of it, or what it is linked to.
    mutating func part(for user: LeakUser) -> LeakRequest {
        let table = random.next(2) == 0 ? random.pick(["orders", "customers"]) : table()
        var path = root() + key(table)
        let more = ["", "/text", "/text/$value", "/owner", "/number/$value", "?$expand=*"]
        switch table {
        case "orders":
            path += random.pick(
                more + [
                    "/customer", "/customer/text", "/customer/$ref", "/$links/customer", "/customer/orders",
                    "/customer/orders/$count", "/customer?$expand=orders", "/customer/owner/$value",
                ])
        case "customers":
            path += random.pick(
                more + [
                    "/orders", "/orders/$count", "/orders/$ref", "/$links/orders", "/orders('r3')",
                    "/orders('r4')/text", "/orders?$filter=number gt 5", "/orders?$expand=customer",
                ])
        default: path += random.pick(more)
        }
        return LeakRequest(method: .get, path: path, headers: form())
    }

    mutating func entityChange(for user: LeakUser, _ known: LeakMemory) -> LeakRequest {
        let table = random.next(2) == 0 ? random.pick(["orders", "customers"]) : table()
        let isV2 = random.next(3) == 0
        let root = isV2 ? "/odata/v2/" : "/odata/v4/"
        let id = id(table)
        let path = root + (table == "numbers" ? "\(table)(\(id))" : "\(table)('\(id)')")
        // What has no column is no property in v2.
        let content = content(user, ["notes", "plain"].contains(table) && isV2 ? "none" : table)
        var headers = condition(table, id, known).filter { $0.0 == "If-Match" }
        if random.next(3) == 0 { headers.append(("Prefer", random.pick(["return=representation", "return=minimal"]))) }
        switch random.next(12) {
        case 0...3:
            var body = content + (table == "numbers" ? "" : #","id":"\#(id)""#)
            if table == "customers", random.next(3) == 0 {
                body += #","orders":[{"id":"\#(self.id("orders"))","text":"\#(value(user))"}]"#
            } else if table == "customers", !isV2, random.next(3) == 0 {
                body += #","orders@odata.bind":["orders('\#(self.id("orders"))')"]"#
            } else if table == "orders", !isV2, random.next(3) == 0 {
                body =
                    #""id":"\#(id)","text":"\#(value(user))","customer@odata.bind":"customers('\#(self.id("customers"))')""#
            }
            return LeakRequest(method: .post, path: root + table, body: "{\(body)}", headers: headers)
        case 4...5:
            return LeakRequest(
                method: isV2 ? HTTPRequest.Method("MERGE")! : .patch, path: path, body: "{\(content)}",
                headers: headers)
        case 6: return LeakRequest(method: .put, path: path, body: "{\(content)}", headers: headers)
        case 7: return LeakRequest(method: .delete, path: path, headers: headers)
        case 8:
            let value = #"{"value":"\#(table == "news" ? "news" : value(user))"}"#
            return LeakRequest(method: .put, path: path + "/text", body: value, headers: headers)
        case 9:
            let (customer, order) = (self.id("customers"), self.id("orders"))
            return LeakRequest(
                method: .put, path: "/odata/v4/orders('\(order)')/customer/$ref",
                body: #"{"@odata.id":"customers('\#(customer)')"}"#)
        case 10:
            let (customer, order) = (self.id("customers"), self.id("orders"))
            return isV2
                ? LeakRequest(
                    method: .post, path: "/odata/v2/customers('\(customer)')/$links/orders",
                    body: #"{"uri":"orders('\#(order)')"}"#)
                : LeakRequest(
                    method: .post, path: "/odata/v4/customers('\(customer)')/orders/$ref",
                    body: #"{"@odata.id":"orders('\#(order)')"}"#)
        default:
            return LeakRequest(
                method: .post, path: "/odata/v4/customers('\(self.id("customers"))')/orders",
                body: #"{"id":"\#(self.id("orders"))","text":"\#(value(user))"}"#)
        }
    }

    mutating func entityBatch(for user: LeakUser, _ known: LeakMemory) -> LeakRequest {
        let isJSON = random.next(2) == 0
        let group = isJSON && random.next(2) == 0 ? #","atomicityGroup":"g""# : ""
        var (parts, text): ([String], String) = ([], "")
        for number in 0..<(random.next(3) + 1) {
            let isRead = random.next(3) == 0 && group.isEmpty
            let request = isRead ? part(for: user) : entityChange(for: user, known)
            let url = request.path.dropFirst("/odata/v4/".count).replacing(" ", with: "%20")
            guard isJSON else {
                text += "--b\r\nContent-Type: application/http\r\n\r\n\(request.method) \(url) HTTP/1.1\r\n"
                text += "Content-Type: application/json\r\n\r\n\(request.body)\r\n"
                continue
            }
            let body = request.body.isEmpty ? "" : #","body":\#(request.body)"#
            parts.append(#"{"id":"\#(number)","method":"\#(request.method)","url":"\#(url)"\#(body)\#(group)}"#)
        }
        let goesOn = [("Prefer", "odata.continue-on-error")]
        guard isJSON else {
            return LeakRequest(
                method: .post, path: root() + "$batch", body: text + "--b--\r\n",
                headers: goesOn + [("Content-Type", "multipart/mixed; boundary=b")])
        }
        return LeakRequest(
            method: .post, path: "/odata/v4/$batch", body: #"{"requests":[\#(parts.joined(separator: ","))]}"#,
            headers: goesOn)
    }

    mutating func service(for user: LeakUser) -> LeakRequest {
        let path = random.pick([
            "/odata/v4/", "/odata/v2/", "/odata/v4/$metadata", "/odata/v2/$metadata", "/odata/v4/All()",
            "/odata/v4/All()?$filter=number gt 3", "/odata/v2/All", "/odata/v4/nothing", "/tables/nothing",
            "/tables/notes/r1/r2", "/odata/v4/All()?$expand=customer", "/odata/v4/All()/$count",
        ])
        return LeakRequest(method: .get, path: path, headers: form())
    }
}
