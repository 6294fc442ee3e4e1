import Foundation
import RepositoryFiles
import SluiceCore
import Testing

@testable import SluiceBackend

/// Each generation's client, word for word, over a real socket. What went over it is the examples of the documentation.
@Suite("Sessions of the old clients") struct WireSessionTests {
    private static let sessions: [WireSession] = [
        .azureV1, .azureV2, .azureV3, .datasync, .odataV2, .odataV4,
    ]
    private static let begin = "<!-- made by a test: begin -->"
    private static let end = "<!-- made by a test: end -->"

    @Test("The session goes as it always went", .timeLimit(.minutes(1)), arguments: sessions.map(\.name))
    func replay(_ name: String) async throws {
        let session = try #require(Self.sessions.first { $0.name == name })
        let numbers = (1...5).map { JSON(members: [("id", JSON("n\($0)")), ("n", JSON($0))]) }
        let fixture = try await BackendFixture(
            tables: [
                .init("todoitem"), .init("numbers", seed: .records(numbers), pageSize: 2),
                .init("todos", columns: [.init("text", .string), .init("place", .integer)]),
            ], backends: 1)
        let transcript = try await fixture.listening { try await session.replay(at: $0) }
        let page = URL(fileURLWithPath: Repository.path("docs/wires/\(name).md"))
        var text = try String(contentsOf: page, encoding: .utf8)
        let start = try #require(text.range(of: Self.begin)?.upperBound)
        let stop = try #require(text.range(of: Self.end)?.lowerBound)
        if ProcessInfo.processInfo.environment["SLUICE_WRITE_DOCS"] != nil {
            text.replaceSubrange(start..<stop, with: "\n\(transcript)\n")
            try text.write(to: page, atomically: true, encoding: .utf8)
        } else if TestDatabase.isSQLite {
            #expect(
                text[start..<stop] == "\n\(transcript)\n",
                "docs/wires/\(name).md shows other exchanges; make written-docs writes them anew")
        } else {
            #expect(Self.unordered(String(text[start..<stop])) == Self.unordered("\n\(transcript)\n"))
        }
    }

    /// The exchanges with what PostgreSQL does not keep taken from both sides: the order of the properties without a
    /// column, and the seventh digit of the server's times, with which they are told apart.
    private static func unordered(_ exchanges: String) -> String {
        exchanges.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let line = String(line).replacing(/(\.\d{5})\d\dZ/) { "\($0.1)Z" }
            guard line.first == "{" || line.first == "[", let json = try? JSON(parsing: Array(line.utf8)) else {
                return line
            }
            return sorted(json).description
        }.joined(separator: "\n")
    }

    private static func sorted(_ json: JSON) -> JSON {
        if let elements = json.elements { return JSON(elements.map(sorted)) }
        guard let members = json.members else { return json }
        return JSON(members: members.sorted { $0.name.text < $1.name.text }.map { ($0.name, sorted($0.value)) })
    }
}
