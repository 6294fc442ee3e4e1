import HostileCases
import Testing

/// The cases run in processes of their own: they measure memory and time, and what other tests hold is not to count.
@Suite("A hostile server") struct HostileServerTests {
    private static let torture = Program("torture")

    @Test("every case ends as it should, and none makes the process grow by 96 MB")
    func cases() async throws {
        // Which of the C library's arenas keeps what was freed depends on the threads of a busy machine.
        let result = try await Self.torture("hostile", environment: ["MALLOC_ARENA_MAX": "1"], limit: .seconds(900))
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    @Test("what is stored is stored as well in a file")
    func files() async throws {
        let result = try await Self.torture("hostile", "--files", limit: .seconds(900))
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    @Test("there are enough cases, and no two have one name")
    func names() {
        let all = HostileCase.all
        #expect(all.count >= 120)
        #expect(Set(all.map(\.id)).count == all.count)
        #expect(Set(all.map(\.group)) == Set(HostileCase.Group.allCases))
    }
}
