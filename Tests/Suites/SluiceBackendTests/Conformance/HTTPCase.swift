import Foundation
import HTTPTypes
import RepositoryFiles
import SluiceCore

@testable import SluiceBackend

/// What the backend is asked in the situation of a row of `sync-cases.jsonl` about servers, and what it answers.
///
/// The tables that are asked: `t` holds `a` and the tombstone `gone`; `seen` shows only records with `shown` true and
/// holds `hidden`; `closed` needs a user; `off` allows nothing; `few` accepts no `$top` over 1000; `lacking` holds `a`
/// and `b` with different properties. `{a}` and `{gone}` stand for the entity tags of these records, and
/// `{version of a}` for the version alone.
struct HTTPCase: Sendable {
    /// What the answer's body is.
    enum Content: Sendable {
        case anything
        case empty
        /// The record with that id as it now stands, with its entity tag.
        case record(String)
        /// A body with this in it.
        case text(String)
    }

    /// The row's line in the file.
    var line: Int
    var wire: ServerWire
    var method: HTTPRequest.Method
    var path: String
    var headers: [(String, String)] = []
    var body = ""
    var status: Int
    var content = Content.anything
    /// Why the answer is another than the row's; nil where it is the same.
    var differs: String?

    /// The backend that is asked.
    static func fixture() async throws -> BackendFixture {
        let hidden = JSON(members: [("id", JSON("hidden")), ("shown", JSON(false))])
        let fixture = try await BackendFixture(
            tables: [
                .init("t"), .init("seen", seed: .records([hidden]), view: try QueryExpression(odata: "shown eq true")),
                .init("closed", access: .authenticated), .init("off", access: TableAccess(.disabled)),
                .init("few", maxTop: 1000), .init("lacking"),
            ], authentication: .init(secret: .text(TestToken.secret)))
        _ = await fixture.send(.post, "/tables/t", #"{"id":"a","x":1}"#)
        _ = await fixture.send(.post, "/tables/t", #"{"id":"gone","x":2}"#)
        _ = await fixture.send(.delete, "/tables/t/gone")
        _ = await fixture.send(.post, "/tables/lacking", #"{"id":"a","x":1}"#)
        _ = await fixture.send(.post, "/tables/lacking", #"{"id":"b","y":2}"#)
        return fixture
    }

    /// Asks the backend.
    func answer(_ fixture: BackendFixture) async -> Answer {
        var tags: [String: String] = [:]
        for id in ["a", "gone"] {
            let tag = await fixture.send(.get, "/tables/t/\(id)?__includeDeleted=true").etag ?? ""
            tags[id] = tag
            tags["version of \(id)"] = String(tag.dropFirst().dropLast())
        }
        let fields = headers.map { name, value in
            (name, tags.reduce(value) { $0.replacing("{\($1.key)}", with: $1.value) })
        }
        let version = ["azure-v2": "2.0.0", "azure-v3": "3.0.0"][wire.name]
        let typed = fields.contains { $0.0 == "Content-Type" }
        return await fixture.send(method, path, body, headers: fields, json: !typed, version: version)
    }

    /// All rows that have an answer here.
    static var all: [HTTPCase] { datasync + azureV3 + azureV2 }

    /// The rows of the file about servers, by line.
    static func rows() throws -> [Int: JSON] {
        let text = try String(contentsOfFile: Repository.fixture("sync-cases.jsonl"), encoding: .utf8)
        var rows: [Int: JSON] = [:]
        for (index, line) in text.split(separator: "\n").enumerated() {
            let row = try JSON(parsing: Array(line.utf8))
            if row["kind"] == "http" { rows[index + 1] = row }
        }
        return rows
    }
}
