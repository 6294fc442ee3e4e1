import SluiceBackend

var configuration: BackendConfiguration { fatalError() }
