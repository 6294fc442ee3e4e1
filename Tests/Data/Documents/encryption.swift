import Sluice

struct Vault: Sendable {
    func key(of name: String) async throws -> StoreKey { fatalError() }
}

let vault = Vault()
var key: StoreKey { fatalError() }
var other: StoreKey { fatalError() }
var annasKey: StoreKey { fatalError() }
var bensKey: StoreKey { fatalError() }
