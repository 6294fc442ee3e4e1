import Sluice

var csv: [UInt8] { [] }
var people: Table<Person> { fatalError() }
var ada: Person {
    get { fatalError() }
    set {}
}
