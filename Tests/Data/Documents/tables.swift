import Sluice

var csv: [UInt8] { [] }
var people: OnlineTable<Person> { fatalError() }
var ada: Person {
    get { fatalError() }
    set {}
}
