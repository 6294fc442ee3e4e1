import Sluice
import SluiceStores

var requests: [DefiningRequest] { fatalError() }
var agencies: TableSchema { fatalError() }
var bookings: TableSchema { fatalError() }
