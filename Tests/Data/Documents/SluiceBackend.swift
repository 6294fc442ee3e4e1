import SluiceBackend

var configuration: BackendConfiguration {
    get { fatalError() }
    set {}
}
var orders: BackendConfiguration.Table {
    get { fatalError() }
    set {}
}
