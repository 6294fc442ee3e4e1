import Sluice
import SluiceStores

var requests: [DefiningRequest] { fatalError() }
var agencies: TableSchema { fatalError() }
var bookings: TableSchema { fatalError() }
var online: OnlineStore { fatalError() }
var offline: OfflineStore { fatalError() }
struct Agency: Codable {}
