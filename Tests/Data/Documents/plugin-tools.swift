import SluiceLua

var policy: PluginPolicy { fatalError() }
var path: String { "" }
