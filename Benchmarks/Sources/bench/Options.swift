internal import Glibc

/// What the command line asks for.
struct Options {
    /// The one benchmark to run; nil for all.
    var only: String?
    /// How many rows to pull.
    var rows = 100_000
    /// How many runs of each side.
    var pairs = 5
    /// Where the temporary folder is made.
    var directory = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    /// Whether pages and databases stay.
    var keep = false

    static let benchmarks = ["pull", "encryption", "plugins", "write", "wire", "growth", "backend", "abi"]

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            func value() throws -> String {
                guard let value = rest.popFirst() else { throw BenchFailure("\(name) needs a value") }
                return value
            }
            func number() throws -> Int {
                guard let number = Int(try value()), number > 0 else { throw BenchFailure("\(name) needs a number") }
                return number
            }
            switch name {
            case "--only": only = try value()
            case "--rows": rows = try number()
            case "--pairs": pairs = try number()
            case "--directory": directory = try value()
            case "--keep": keep = true
            default: throw BenchFailure("unknown option \(name)")
            }
        }
        if let only, !Self.benchmarks.contains(only) {
            throw BenchFailure("there is no benchmark \(only); there are: \(Self.benchmarks.joined(separator: ", "))")
        }
    }
}
