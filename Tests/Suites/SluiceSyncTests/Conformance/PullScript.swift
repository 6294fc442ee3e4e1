import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Synchronization

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

/// The server of a pull row: it answers reads with the row's pages in order, then with empty ones, and writes as the
/// row says. Asked for its last rows by id, it sends those of the pages so far.
final class PullScript: Transport {
    private struct State {
        var pages: [SyncResponse]
        var served: [JSON] = []
        var requests: [String] = []
        var features: [String] = []
        var writes = 0
        var duringFirst: (@Sendable () async throws -> Void)?
    }
    private let state: Mutex<State>
    private let empty: SyncResponse
    private let shape: String?
    private let push: Int

    init(_ input: JSON) {
        let name = input["dialect"]?.string
        shape = name == nil || name == "azure-v2" ? nil : "items"
        var maker = PageMaker(shape: shape)
        state = Mutex(State(pages: (input["pages"]?.elements ?? []).map { maker.page($0) }))
        empty = maker.page(["rows": 0])
        push = input["push_status"]?.int.map(Int.init) ?? 201
    }

    /// The reads so far, in the runners' spelling.
    var requests: [String] { state.withLock { $0.requests } }
    /// Their `X-ZUMO-FEATURES`.
    var features: [String] { state.withLock { $0.features } }

    /// Does `body` while the first page is on its way.
    func duringFirstPage(_ body: @escaping @Sendable () async throws -> Void) {
        state.withLock { $0.duringFirst = body }
    }

    func send(_ request: SyncRequest) async throws -> SyncResponse {
        guard request.head.method == .get else {
            guard push == 201, var record = try? request.body.json else { return .model(push, nil) }
            record["version"] = "1"
            return .model(push, record)
        }
        let (page, during) = state.withLock { state -> (SyncResponse, (@Sendable () async throws -> Void)?) in
            let text = PullRequestText.normal(request.head.path ?? "")
            // A real server's page from the last row's time on shows that row; asked for it, the script has it gone.
            if text.hasPrefix("filter (id eq "), text.contains("order updatedAt; top 1;") { return (empty, nil) }
            state.requests.append(text)
            if let name = HTTPField.Name("X-ZUMO-FEATURES") {
                state.features.append(request.head.headerFields[name] ?? "")
            }
            let during = state.duringFirst
            state.duringFirst = nil
            // The order by id is asked for up to the last id that was served.
            if text.hasPrefix("order id desc") || text.contains("; order id desc; top 2;") {
                let last = state.served.sorted { ($0["id"]?.string ?? "") > ($1["id"]?.string ?? "") }.prefix(2)
                return (
                    .model(200, shape.map { JSON(members: [($0, JSON(Array(last)))]) } ?? JSON(Array(last))), during
                )
            }
            if let page = state.pages.first, let body = try? page.body.json {
                state.served += (shape.flatMap { body[$0] } ?? body).elements ?? []
            }
            return (state.pages.isEmpty ? empty : state.pages.removeFirst(), during)
        }
        try await during?()
        return page
    }
}

/// Makes answers of a row's pages: `{"rows": 2}`, `{"rows": [["abc", "2001-02-03T00:00:00Z"]]}`, `{"rows": ["abc"]}`,
/// `{"rows": [{"id": "abc"}]}`, `{"status": 500}`, `{"body": "…"}`; a bare number is a number of rows.
struct PageMaker {
    let shape: String?
    private var count: Int64 = 0

    init(shape: String?) { self.shape = shape }

    mutating func page(_ page: JSON) -> SyncResponse {
        let status = page["status"]?.int.map(Int.init) ?? 200
        if let text = page["body"]?.string { return .json(status, text) }
        if status != 200 { return .model(status, nil) }
        let rows = JSON(rows(page["rows"] ?? page))
        var body = rows
        if let shape {
            body = JSON(members: [(shape, rows)])
            body["nextLink"] = page["nextLink"]
        }
        var response = SyncResponse.model(200, body)
        if let link = page["link"]?.string, let name = HTTPField.Name("Link") {
            response.head.headerFields[name] = link
        }
        return response
    }

    private mutating func rows(_ rows: JSON) -> [JSON] {
        if let number = rows.int {
            return (0..<number).map { _ in
                count += 1
                let time = Timestamp(ticks: 17_000_000_000_000_000 + count * Timestamp.ticksPerSecond)
                return Self.row("r\(1000 + count)", JSON(time.text(fractionDigits: 3)))
            }
        }
        return (rows.elements ?? []).map { row in
            if let id = row.string { return Self.row(id, "2020-01-01T00:00:00.000Z") }
            if let id = row[0]?.string { return Self.row(id, row[1] ?? .null) }
            var whole = Self.row("", "2020-01-01T00:00:00.000Z")
            for (name, value) in row.members ?? [] { whole[name] = value }
            return whole
        }
    }

    private static func row(_ id: String, _ updatedAt: JSON) -> JSON {
        ["id": JSON(id), "text": "server", "version": "1", "updatedAt": updatedAt, "deleted": false]
    }
}
