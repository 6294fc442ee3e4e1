import Foundation
import HTTPTypes
import SluiceCore
import Synchronization

/// An OData v4 service in memory that assigns the numbers of orders, and takes only items of orders that it has.
final class AssigningService: Transport {
    fileprivate struct State {
        var orders: [JSON] = []
        var items: [JSON] = []
        var number: Int64 = 4710
        var version = 0
        var log: [(call: String, body: JSON)] = []
        var fault: Fault?
    }

    /// What happens to the next creation of an order.
    enum Fault: Sendable { case refuse, loseAnswer }

    private let state = Mutex(State())

    /// The changes so far.
    var changes: [String] { state.withLock { $0.log.map(\.call) } }
    /// The bodies of the changes so far.
    var bodies: [JSON] { state.withLock { $0.log.map(\.body) } }
    var items: [JSON] { state.withLock { $0.items } }
    func next(_ fault: Fault) { state.withLock { $0.fault = fault } }
    func clear() { state.withLock { $0.log = [] } }

    func send(_ request: Request) async throws -> Response {
        let path = PercentEncoded.text(request.head.path ?? "").dropFirst("/svc/".count)
        let body = request.body.isEmpty ? JSON.null : try request.body.json
        let answer = state.withLock { $0.answer(request.head.method, String(path), body) }
        guard let answer else { throw SluiceError(.network, "the answer was lost") }
        return answer
    }
}

extension AssigningService.State {
    fileprivate mutating func answer(_ method: HTTPRequest.Method, _ path: String, _ body: JSON) -> Response? {
        let isOrders = path.hasPrefix("Orders")
        guard isOrders || path.hasPrefix("Items") else { return Self.json(404, .object) }
        if method == .get { return list(isOrders ? orders : items, path) }
        log.append(("\(method) \(path)", body))
        version += 1
        var row = body
        row["@odata.etag"] = JSON("W/\"\(version)\"")
        if method == .post, isOrders {
            if body["Number"] != nil { return Self.json(400, ["error": ["message": "numbers are assigned"]]) }
            let fault = fault
            self.fault = nil
            if fault == .refuse { return Self.json(422, ["error": ["message": "not now"]]) }
            number += 1
            row["Number"] = JSON(number)
            orders.append(row)
            return fault == .loseAnswer ? nil : Self.json(201, row)
        }
        let key = path.drop { $0 != "'" }.dropFirst().prefix { $0 != "'" }
        let old = items.firstIndex { $0["Code"]?.string == String(key) }
        if method == .patch, let old {
            for (name, value) in row.members ?? [] { items[old][name] = value }
            row = items[old]
        }
        guard row["OrderNumber"] ?? .null == .null || orders.contains(where: { $0["Number"] == row["OrderNumber"] })
        else { return Self.json(422, ["error": ["message": "there is no such order"]]) }
        guard method == .post else { return Self.json(old == nil ? 404 : 200, row) }
        items.append(row)
        return Self.json(201, row)
    }

    private func list(_ rows: [JSON], _ path: String) -> Response {
        if let filter = path.firstRange(of: "$filter=(Ref eq '") {
            let id = path[filter.upperBound...].prefix { $0 != "'" }
            return Self.json(200, ["value": JSON(rows.filter { $0["Ref"]?.string == String(id) })])
        }
        if path.hasPrefix("Orders(") || path.hasPrefix("Items(") {
            let inside = path.drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }
            let key = String(inside.filter { $0 != "'" })
            let row = rows.first { row in
                if let number = row["Number"]?.int { return String(number) == key }
                return row["Code"]?.string == key
            }
            return row.map { Self.json(200, $0) } ?? Self.json(404, .object)
        }
        // One page holds all.
        return Self.json(200, ["value": JSON(path.contains(" gt ") || path.contains("$skip=") ? [] : rows)])
    }

    private static func json(_ status: Int, _ document: JSON) -> Response {
        Response(.init(status: .init(code: status)), body: Body(json: document))
    }
}

private enum PercentEncoded {
    static func text(_ text: String) -> String { text.removingPercentEncoding ?? text }
}
