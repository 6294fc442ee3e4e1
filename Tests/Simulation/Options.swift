/// What the program was asked for.
struct Options {
    var seeds: UInt64 = 2000
    var from: UInt64 = 1
    /// Every how many-eth seed is played, for several processes beside each other.
    var stride: UInt64 = 1
    /// The only wire, by its name.
    var dialect: String?
    var trace = false
    var json = false
    /// A file with a story to play in the place of seeds.
    var story: String?
    /// Reports, as JSON, to add up: whole, or only how many violations they have.
    var merge: [String] = []
    var countsOnly = false
    /// The only kind of store, by its name.
    var store: String?
    /// Faults and habits of servers that no story has, by their names.
    var without: [String] = []
    /// Whether to say each story's hash, to be compared with another run's.
    var hashes = false

    /// - Throws: a sentence for the person who typed it.
    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        func number(_ name: String) throws -> UInt64 {
            guard let text = rest.popFirst(), let number = UInt64(text) else {
                throw Complaint("\(name) needs a number")
            }
            return number
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--seeds": seeds = try number(argument)
            case "--from": from = try number(argument)
            case "--dialect": dialect = rest.popFirst()
            case "--stride": stride = max(1, try number(argument))
            case "--seed": (from, seeds) = (try number(argument), 1)
            case "--trace": trace = true
            case "--json": json = true
            case "--store": store = rest.popFirst()
            case "--without": without = (rest.popFirst() ?? "").split(separator: ",").map(String.init)
            case "--hashes": hashes = true
            case "--story": story = rest.popFirst()
            case "--merge", "--violations":
                countsOnly = argument == "--violations"
                merge = Array(rest)
                rest = []
            default: throw Complaint("what is \(argument)?")
            }
        }
    }
}

/// Something that the person at the keyboard should know.
struct Complaint: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
