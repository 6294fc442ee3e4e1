import Sluice

func MyStore(path: String) throws -> SQLiteStore { try SQLiteStore(path: path) }
func makeEmptyFolder() -> String { "" }
