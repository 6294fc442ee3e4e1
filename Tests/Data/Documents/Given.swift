import Sluice

// What the pages of the documentation take as given.
var endpoint: Endpoint { fatalError() }
var transport: any Transport { AsyncHTTPTransport() }
var client: SluiceClient { fatalError() }
var store: SQLiteStore { fatalError() }
var context: SyncContext { fatalError() }
var todos: SyncTable<JSON> { fatalError() }
