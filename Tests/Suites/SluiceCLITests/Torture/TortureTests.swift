import Testing

@Suite("Processes that are ended in the middle of their work")
struct TortureTests {
    @Test("nothing is lost in 120 cycles of kill -9, at random and at each commit point, of workers and server")
    func kill() async throws {
        let result = try await Program("torture").run(["kill", "--cycles", "120"], limit: .seconds(600))
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.contains(" 0 violations"))
    }

    @Test("nor of an encrypted store, also while it gets another key or none")
    func killEncrypted() async throws {
        let result = try await Program("torture").run(["kill", "--cycles", "40", "--encrypted"], limit: .seconds(300))
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.contains(" 0 violations"))
    }
}
