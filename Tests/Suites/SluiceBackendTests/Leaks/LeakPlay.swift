import Foundation
import HTTPTypes
import SluiceCore
import Testing

@testable import SluiceBackend

/// What a user has been told and may use again.
struct LeakMemory {
    /// The versions of their records, by table and id.
    var versions: [String: String] = [:]
    /// Addresses of next pages, deltas and new records.
    var links: [String] = []
    /// Change tokens, by table.
    var tokens: [String: [String]] = [:]

    mutating func learn(_ request: LeakRequest, _ answer: Answer) {
        let parts = request.path.split(separator: "?").first?.split(separator: "/").map(String.init) ?? []
        if let tag = answer.etag, parts.count == 3 { versions["\(parts[1])/\(parts[2])"] = tag }
        if let token = answer.header("X-Sluice-Delta-Token"), parts.count == 2 {
            tokens[parts[1], default: []].append(token)
        }
        let body = answer.json
        let found = [
            answer.header("Link"), answer.header("Location"), body["nextLink"]?.string, body["@odata.nextLink"]?.string,
            body["@odata.deltaLink"]?.string, body["d"]?["__next"]?.string, body["d"]?["__delta"]?.string,
        ]
        for case let link? in found {
            guard let range = link.range(of: "http://127.0.0.1:8080") else { continue }
            links.append(String(link[range.upperBound...].prefix { $0 != ";" }))
        }
        if links.count > 40 { links.removeFirst(20) }
    }
}

/// One world in which two users ask in turn.
struct LeakPlay {
    let world: LeakWorld
    private var requests: LeakRequests
    private var watch: LeakWatch
    private(set) var memories: [LeakUser: LeakMemory] = [.ann: .init(), .bob: .init()]

    /// What was asked, by whom, and what came of it.
    struct Step {
        var user: LeakUser
        var asked: String
        var answer: String
        var status: Int
        var finding: String?

        /// Whether it was a batch with a group that was refused. Its parts run side by side, and the first that is refused
        /// is named.
        var isFailedGroup: Bool { asked.contains("atomicityGroup") && answer.contains(#""status":4"#) }
    }

    init(_ marks: LeakMarks, seed: UInt64) async throws {
        world = try await LeakWorld(marks)
        requests = LeakRequests(marks, seed: seed)
        watch = LeakWatch(marks)
    }

    /// - Parameter memories: what the users go by: in both worlds what they know in the first, so that they ask the same.
    mutating func step(knowing memories: [LeakUser: LeakMemory]) async throws -> Step {
        let user: LeakUser = requests.random.next(2) == 0 ? .ann : .bob
        if requests.random.next(25) == 0 { return try await streamStep(user, memories[user] ?? .init()) }
        // Now and then with what only the other was told.
        let source = requests.random.next(12) == 0 ? LeakRequests.other(user) : user
        let request = requests.any(for: user, memories[source] ?? .init())
        let answer = await world.send(request.method, request.path, request.body, by: user, headers: request.headers)
        let asked =
            "\(request.method) \(request.path) \(request.headers.map { "\($0.0): \($0.1)" }.joined(separator: ", ")) "
            + request.body
        self.memories[user, default: .init()].learn(request, answer)
        if !request.path.contains("news"), !request.path.contains("$batch") { watch.learn(answer, to: user) }
        return Step(
            user: user, asked: asked, answer: answer.whole, status: answer.status,
            finding: watch.finding(in: answer.whole, to: user, asking: asked))
    }

    /// A stream of changes: both users change something, and each hears of their own.
    private mutating func streamStep(_ user: LeakUser, _ known: LeakMemory) async throws -> Step {
        let table = requests.random.pick(["notes", "customers", "orders"])
        let other = LeakRequests.other(user)
        var text = ""
        let last = requests.random.next(2) == 0 ? requests.random.picked(known.tokens[table] ?? []) : nil
        let head = world.stream("/tables/\(table)/changes", by: user, last: last)
        guard case .stream(let first, var stream) = await ChangeStream.begin(head, world.fixture.backend) else {
            return Step(user: user, asked: "stream of \(table)", answer: "refused", status: 410)
        }
        text += String(decoding: first, as: UTF8.self)
        for writer in [other, user] {
            let content = requests.content(writer, "notes")
            let answer = await world.send(.post, "/tables/\(table)", "{\(content)}", by: writer)
            watch.learn(answer, to: writer)
            if writer == user { try #require(answer.status == 201, "\(answer.whole)") }
        }
        let rest: [UInt8] = await stream.next() ?? []
        text += String(decoding: rest, as: UTF8.self)
        let asked = "stream of \(table) after \(last ?? "now")"
        return Step(
            user: user, asked: asked, answer: text, status: 200,
            finding: watch.finding(in: text, to: user, asking: asked))
    }

    /// How many records of a table each route says that the user has: all the same.
    func counts(_ table: String, of user: LeakUser) async -> [String: Int64] {
        var list = 0
        while let rows = await world.send(.get, "/tables/\(table)?$skip=\(list)", by: user).json["items"],
            rows.count > 0
        {
            list += rows.count
        }
        let counted = await world.send(
            .get, "/tables/\(table)?$top=0&$inlinecount=allpages", by: user, headers: [("ZUMO-API-VERSION", "2.0.0")])
        let v2 = await world.send(.get, "/odata/v2/\(table)/$count", by: user)
        let v4 = await world.send(.get, "/odata/v4/\(table)/$count", by: user)
        let sum = await world.send(.get, "/odata/v4/\(table)?$apply=aggregate($count as c)", by: user)
        let digest = await world.send(.get, "/tables/\(table)/$digest", by: user).json["count"]?.int ?? -1
        let toolkit = await world.send(.get, "/tables/\(table)?$top=0&$count=true", by: user).json["count"]?.int ?? -1
        return [
            "list": Int64(list), "inlinecount": counted.json["count"]?.int ?? -1, "v2": Int64(v2.text) ?? -1,
            "v4": Int64(v4.text) ?? -1, "apply": sum.json["value"]?[0]?["c"]?.int ?? -1, "digest": digest,
            "count": toolkit,
        ]
    }
}
