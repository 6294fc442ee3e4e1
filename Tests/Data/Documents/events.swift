import Sluice

struct Screen {
    func show(_ records: [JSON]) {}
    func show(_ text: String) {}
    func clear() {}
    func spin() {}
}

let list = Screen()
let badge = Screen()
var update: LiveQuery<JSON>.Update { fatalError() }
var former: [JSON] { [] }
func showTodos() async {}
