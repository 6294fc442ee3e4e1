import Sluice

var key: String { "key" }
