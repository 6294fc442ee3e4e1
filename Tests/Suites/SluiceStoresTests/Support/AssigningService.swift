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
        var requestIDs: [String] = []
        /// The answers to requests that had an id; nil where none is remembered.
        var remembered: [String: SyncResponse]?
    }

    /// What happens to the next creation of an order.
    enum Fault: Sendable, Equatable {
        case refuse, loseAnswer
        /// It is not carried out, and answered so.
        case fail(Int, retryAfter: String? = nil)
        /// It is carried out, and answered so.
        case doneBut(Int, entityID: Bool = false)
    }

    private let state = Mutex(State())

    /// The changes so far.
    var changes: [String] { state.withLock { $0.log.map(\.call) } }
    /// The bodies of the changes so far.
    var bodies: [JSON] { state.withLock { $0.log.map(\.body) } }
    /// The ids of the requests that were to make an order.
    var requestIDs: [String] { state.withLock { $0.requestIDs } }
    var orders: [JSON] { state.withLock { $0.orders } }
    /// Has it remember the ids of requests, and say so.
    func remember() { state.withLock { $0.remembered = [:] } }
    var items: [JSON] { state.withLock { $0.items } }
    func next(_ fault: Fault) { state.withLock { $0.fault = fault } }
    func clear() { state.withLock { $0.log = [] } }

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        let path = PercentEncoded.text(request.head.path ?? "").dropFirst("/svc/".count)
        let body = request.body.isEmpty ? JSON.null : try request.body.json
        let id = HTTPField.Name("Repeatability-Request-ID").flatMap { request.head.headerFields[$0] } ?? ""
        let answer = state.withLock { state -> SyncResponse? in
            if request.head.method == .post, path == "Orders" { state.requestIDs.append(id) }
            if let known = state.remembered?[id] { return known }
            let isLost = state.fault == .loseAnswer
            if isLost, state.remembered != nil { state.fault = nil }
            var answer = state.answer(request.head.method, String(path), body)
            guard state.remembered != nil, request.head.method != .get, !id.isEmpty else { return answer }
            if let name = HTTPField.Name("Repeatability-Result") { answer?.head.headerFields[name] = "accepted" }
            state.remembered?[id] = answer
            return isLost ? nil : answer
        }
        guard let answer else { throw SluiceError(.network, "the answer was lost") }
        return answer
    }
}

extension AssigningService.State {
    fileprivate mutating func answer(_ method: HTTPRequest.Method, _ path: String, _ body: JSON) -> SyncResponse? {
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
            if case .fail(let status, let retryAfter)? = fault {
                var answer = Self.json(status, ["error": ["message": "no"]])
                answer.head.headerFields[.retryAfter] = retryAfter
                return answer
            }
            number += 1
            row["Number"] = JSON(number)
            orders.append(row)
            if case .doneBut(let status, let hasID)? = fault {
                var answer = SyncResponse(.init(status: .init(code: status)))
                if hasID { answer.head.headerFields[.location] = "http://other.test/x/Orders(\(number))" }
                return answer
            }
            return fault == .loseAnswer ? nil : Self.json(201, row)
        }
        if isOrders {
            let number = path.drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }
            guard let index = orders.firstIndex(where: { $0["Number"]?.int.map(String.init) == String(number) }) else {
                return Self.json(404, .object)
            }
            if method == .delete {
                orders.remove(at: index)
                return SyncResponse(.init(status: .noContent))
            }
            for (name, value) in row.members ?? [] { orders[index][name] = value }
            return Self.json(200, orders[index])
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

    private func list(_ rows: [JSON], _ path: String) -> SyncResponse {
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

    private static func json(_ status: Int, _ document: JSON) -> SyncResponse {
        SyncResponse(.init(status: .init(code: status)), body: MessageBody(json: document))
    }
}

private enum PercentEncoded {
    static func text(_ text: String) -> String { text.removingPercentEncoding ?? text }
}
