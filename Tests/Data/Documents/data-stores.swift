import Sluice
import SluiceStores

var offline: OfflineStore { fatalError() }
var id: String { fatalError() }
var record: JSON { fatalError() }
