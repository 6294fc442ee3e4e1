import SluiceCore
import SluiceTesting
import Testing

@Test("the memory store conforms", arguments: LocalStoreConformance.checks)
func memoryStoreConforms(check: LocalStoreConformance.Check) async throws {
    try await check.run { MemoryStore() }
}
