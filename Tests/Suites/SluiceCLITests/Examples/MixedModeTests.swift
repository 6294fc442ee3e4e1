import Foundation
import Sluice
import Testing

@Suite(.example(.mixedMode)) struct MixedModeTests {
    @Test("the travel agencies are read online, offline and mixed, and each answer says its source")
    func agencies() async throws {
        let told = try await Program.mixedMode.run([])
        #expect(told.status == 0, "\(told)")
        #expect(told.output.contains("All answers are right."))
        let facts = try await Program.mixedMode.run(["--json"])
        #expect(facts.status == 0)
        let steps = try facts.json["steps"]?.elements ?? []
        func sources(_ address: String) -> [String?] {
            steps.filter { $0["asked"]?.string == address }.map { $0["source"]?.string }
        }
        #expect(
            sources("Agencies?$filter=City eq 'Beijing'") == ["remote", "localPartial", "localPartial", "localPartial"])
        #expect(
            sources("Agencies?$filter=Country eq 'US'&$orderby=Name") == ["localComplete", "localComplete"])
        #expect(steps.count > 15)
        #expect(steps.allSatisfy { $0["right"]?.bool == true })
    }
}
