import Foundation
import HTTPTypes
import SluiceCore

@testable import SluiceBackend
@testable import SluiceBase

/// Who takes part: two users who ask, and one whose records are outside of every view.
enum LeakUser: String, CaseIterable {
    case ann, bob, hidden
}

/// What the values of each user are marked with. In the second of two worlds everybody but the observer has other values.
struct LeakMarks {
    let observer: LeakUser
    let isSecond: Bool

    private func isOther(_ user: LeakUser) -> Bool { isSecond && user != observer }

    /// A text that stands in nobody else's values.
    func mark(_ user: LeakUser) -> String { "zq\(user.rawValue)\(isOther(user) ? "second" : "one")" }

    func number(_ user: LeakUser, _ number: Int) -> Int { isOther(user) ? number * 7 + 3 : number }

    /// The user's name in their token, which a request may hold that asks for another's records.
    static func name(_ user: LeakUser) -> String { "user-\(user.rawValue)" }
}

/// A backend with tables of every kind of rule, on which two users keep records.
struct LeakWorld {
    /// The tables that are a user's own: what of it is another's is not there.
    static let own = ["notes", "plain", "customers", "orders", "numbers", "kept"]
    static let all = own + ["news"]

    let fixture: BackendFixture
    let marks: LeakMarks
    private let tokens: [LeakUser: String]

    /// A hook that does what `perUser` does, and merges conflicts.
    private struct Keeping: TableHooks {
        func before(_ request: inout HookRequest) async throws {
            guard let user = request.principal?.user else { throw HookRefusal(401, "who are you?") }
            request.filter = .binary(.eq, .column("owner"), .literal(.string(user)))
            request.record?["owner"] = JSON(user)
        }

        func after(_ answer: inout HookAnswer) async throws {
            for index in answer.records.indices { answer.records[index]["inner"] = nil }
        }

        func conflict(_ conflict: HookConflict) async throws -> JSON? {
            var merged = conflict.server
            for (name, value) in conflict.client.members ?? [] { merged[name] = value }
            return merged
        }
    }

    init(_ marks: LeakMarks) async throws {
        self.marks = marks
        var tokens: [LeakUser: String] = [:]
        for user in LeakUser.allCases { tokens[user] = try await TestToken.user(LeakMarks.name(user)) }
        self.tokens = tokens
        let text: [TableSchema.Column] = [.init("text", .string), .init("number", .integer), .init("owner", .string)]
        var customers = BackendConfiguration.Table("customers", pageSize: 5, columns: text, perUser: "owner")
        customers.view = try QueryExpression(odata: "text ne 'outside'")
        var orders = BackendConfiguration.Table(
            "orders", pageSize: 5, columns: text + [.init("customerId", .string), .init("more", .json)],
            perUser: "owner")
        orders.references = [.init("customer", column: "customerId", table: "customers", inverse: "orders")]
        var news = BackendConfiguration.Table("news", pageSize: 5, columns: text + [.init("draft", .boolean)])
        news.view = try QueryExpression(odata: "draft eq false")
        var numbers = BackendConfiguration.Table("numbers", columns: text, perUser: "owner")
        numbers.ids = .integer
        fixture = try await BackendFixture(
            tables: [
                .init("notes", pageSize: 5, perUser: "owner"), .init("plain", softDelete: false, perUser: "owner"),
                customers, orders, numbers, news, .init("kept", columns: text, access: .authenticated),
            ], authentication: .init(secret: .text(TestToken.secret)), hooks: ["kept": Keeping()],
            operations: [
                .function("All", returns: .records(table: "orders"), access: .authenticated) { call in
                    JSON(try await call.records(matching: TableQuery("orders")))
                }
            ], backends: 1)
        // Tokens name their database: the two worlds have one name.
        _ = try await fixture.backend.served.database.write {
            try $0.run("UPDATE sluice_identity SET value = 'a world'")
        }
        // What no request may see.
        for number in 0..<8 {
            for table in Self.all {
                let value = "\(marks.mark(.hidden)) \(number)"
                let id = table == "numbers" ? "" : #""id":"h\#(number)","#
                let body =
                    #"{\#(id)"text":"\#(value)","number":\#(marks.number(.hidden, number)),"draft":true,"inner":"\#(value)","p\#(marks.mark(.hidden))":1}"#
                _ = await send(.post, "/tables/\(table)", body, by: .hidden)
            }
        }
    }

    /// Sends a request as a user.
    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "", by user: LeakUser,
        headers: [(String, String)] = []
    ) async -> Answer {
        let token = tokens[user] ?? ""
        let isJSON = !body.isEmpty && !headers.contains { $0.0 == "Content-Type" }
        return await fixture.send(
            method, path, body, headers: headers + [("X-ZUMO-AUTH", token)], json: isJSON, version: nil)
    }

    /// The head of a request for a stream of changes.
    func stream(_ path: String, by user: LeakUser, last: String?) -> HTTPRequest {
        var head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:8080", path: path)
        head.headerFields[.accept] = "text/event-stream"
        head.headerFields[HTTPField.Name("X-ZUMO-AUTH")!] = tokens[user]
        head.headerFields[HTTPField.Name("Last-Event-ID")!] = last
        return head
    }
}
