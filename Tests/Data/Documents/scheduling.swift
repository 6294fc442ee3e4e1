import Logging
import Sluice

var scheduler: SyncScheduler { fatalError() }
let log = Logger(label: "sync")
let logger = log
