import HTTPTypes
import SluiceCore
import SluiceTestSupport
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceTesting
@testable import SluiceWire

@Suite("Lists that show less of a row than the row by its id")
struct PartialRowTests {
    @Test("a property that rows lack themselves is compared once, and costs the updates of other such rows nothing")
    func sparse() async throws {
        let device = try await Device(.memory, dialect: .datasync)
        device.server.seed("todos", [["id": "full", "n": 1, "text": "x"]])
        let sparse = (0..<5).map { "sparse\($0)" }
        device.server.seed("todos", sparse.map { ["id": JSON($0), "n": 1] })
        try await device.todos.pull()
        device.server.clearLog()
        for id in ["full"] + sparse {
            try await device.todos.update(["id": JSON(id), "n": 2])
            #expect(try await device.context.push().isClean)
        }
        // By the id and from the list: of the full row, and of one that lacks a property.
        #expect(device.server.requests.filter { $0.head.method == .get }.count == 4)
    }

    @Test(
        "what a list left out, or showed as null or cut, is not removed by an update",
        arguments: [nil, .null, "lo"] as [JSON?])
    func partial(_ shown: JSON?) async throws {
        // A row that is listed whole says nothing of one that lacks a property.
        for ids in [["large", "small"]] + (shown == nil ? [["small", "large"]] : []) {
            let device = try await Device(.memory, dialect: .datasync)
            let server = device.server
            server.seed(
                "todos", [["id": "small", "n": 1, "text": "x"], ["id": "large", "n": 1, "text": "long text"]])
            let before = server.rows("todos").values.map { row in
                row["id"] == "large" ? row.setting(["text": shown ?? .null]).without(shown == nil ? ["text"] : []) : row
            }
            server.onRequest { request in
                let path = request.head.path ?? ""
                let isList = request.head.method == .get && !path.contains("/todos/") && !path.contains("skip=")
                guard isList, path.contains("todos?") else { return .none }
                let filter = PercentEncoding.decoded(path)
                let rows = before.filter { row in
                    !filter.contains("id eq") || filter.contains("id eq '\(row["id"]?.string ?? "")'")
                }
                return .answer(.model(200, ["items": JSON(rows)]))
            }
            try await device.todos.pull()
            for id in ids { try await device.todos.update(["id": JSON(id), "n": 2]) }
            _ = try await device.context.push()
            #expect(device.remote("large")?["text"] == "long text", "\(ids)")
            #expect(device.remote("large")?["n"] == 2 && device.remote("small")?["text"] == "x")
        }
    }
}
