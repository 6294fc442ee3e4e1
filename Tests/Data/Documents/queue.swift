import Sluice

var other: SyncContext { fatalError() }
var ledger: SyncTable { fatalError() }
