import Sluice

struct ListClient {
    func list(_ table: String) async throws -> [JSON] { [] }
}

func myClient(at url: String) -> ListClient { ListClient() }

struct Shopping: ConflictHandler {
    func decide(_ conflict: Conflict) async throws -> ConflictDecision { .next }
}
