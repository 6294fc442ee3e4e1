import Sluice

let tasks = TableSchema("tasks", columns: [.init("title", .string)])
var newStore: SQLiteStore { fatalError() }
struct TextFile: Sendable {
    func write(_ text: String) throws {}
}
let file = TextFile()
