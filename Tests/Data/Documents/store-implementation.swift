import Sluice

typealias MyStore = SQLiteStore
func makeEmptyFolder() -> String { "" }
