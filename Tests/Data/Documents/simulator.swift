import Sluice

struct LongestTitle: ConflictHandler {
    func decide(_ conflict: Conflict) async throws -> ConflictDecision { .next }
}
