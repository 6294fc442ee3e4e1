import Sluice

var csv: [UInt8] { [] }
var people: TypedTable<Person> { fatalError() }
var ada: Person {
    get { fatalError() }
    set {}
}
