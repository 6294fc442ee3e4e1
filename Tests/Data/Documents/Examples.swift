import Foundation
import HTTPTypes
import Logging
import Sluice

// What the examples in comments take as given, beside Given.swift.
struct Todo: SyncRecord {
    static let tableName = "todos"
    var id = UUID().uuidString
    var text: String
    var done = false
}

struct Person: SyncRecord {
    static let tableName = "people"
    var id: String?
    var name: String
    var age = 0
    var version: String?
}

struct Movie: Codable {
    var id: String
    var year: Int
}

struct RequestLog: RequestFilter {
    func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
        try await next(request)
    }
}

struct Tenant: RequestFilter {
    var name: String
    func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
        try await next(request)
    }
}

struct File {
    func write(_ text: String) throws {}
}

var options: SyncOptions {
    get { SyncOptions() }
    set {}
}
var ada: Person {
    get { fatalError() }
    set {}
}
var query: TableQuery {
    get { TableQuery("places") }
    set {}
}
var people: OnlineTable<Person> { fatalError() }
var ledger: SyncTable<JSON> { todos }
let name = "todos"
var table: TableSchema { fatalError() }
var held: TableSchema? { nil }
var schema: TableSchema { fatalError() }
var changes: JSON { .object }
var entry: JSON { .object }
var record: JSON { .object }
var allRecords: [JSON] { [] }
var former: [JSON] { [] }
var update: LiveQuery<JSON>.Update { fatalError() }
var output: File { File() }
var csv: [UInt8] { [] }
var passphrase: StorePassphrase { fatalError() }
var bensKey: StoreKey { fatalError() }
var annasClient: SluiceClient { client }

struct Vault: Sendable {
    func secret(named name: String) async throws -> String { "" }
}
let vault = Vault()
