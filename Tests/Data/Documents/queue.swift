import Sluice

var other: SyncContext { fatalError() }
var ledger: SyncTable<JSON> { fatalError() }
