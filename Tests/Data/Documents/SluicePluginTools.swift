import SluiceLua

var plugins: Plugins { fatalError() }
