import RepositoryFiles
import SluiceCore
import SluiceTesting
import Testing

@testable import SluiceBase
@testable import SluiceSync
@testable import SluiceWire

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Stories that broke an invariant once, as the simulator shrank them. They are kept as what is done in them, so that
/// they mean the same when seeds have come to mean something else.
@Suite("Stories that once failed")
struct StoryCorpusTests {
    static let directory = Repository.fixture("simulation")

    static let names: [String] = {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".json") { names.append(name) }
        }
        return names.sorted()
    }()

    @Test("there are some")
    func present() {
        #expect(!Self.names.isEmpty)
    }

    @Test("holds", arguments: names)
    func holds(_ name: String) throws {
        let story = try SimulationStory(json: JSON(parsing: try Self.bytes("\(Self.directory)/\(name)")))
        let outcome = Simulation().play(story, keepsTrace: true)
        let lines = [name, outcome.violation.map { "\($0)" } ?? ""] + outcome.trace
        #expect(outcome.violation == nil, "\(lines.joined(separator: "\n"))")
    }

    private static func bytes(_ path: String) throws -> [UInt8] {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }
}
