internal import Sluice

/// Parses OData texts of the command line as parts of a query, with the option's name in the refusal.
enum QueryOptions {
    static func filter(_ text: String?) throws -> QueryExpression? {
        try text.map { text in try read("--filter") { try QueryExpression(odata: text) } }
    }

    static func order(_ text: String?) throws -> [TableQuery.SortKey] {
        try text.map { text in try read("--orderby") { try TableQuery.order(odata: text) } } ?? []
    }

    static func select(_ text: String?) throws -> [PropertyName] {
        try text.map { text in try read("--select") { try TableQuery.select(odata: text) } } ?? []
    }

    static func number(_ number: Int?, _ option: String) throws -> Int? {
        if let number, number < 0 { throw CommandFailure.usage("\(option) cannot be negative") }
        return number
    }

    private static func read<Part>(_ option: String, _ body: () throws -> Part) throws -> Part {
        do {
            return try body()
        } catch let error as TableQuery.SyntaxError {
            throw CommandFailure(.usage, "invalidQuery", "\(option): \(error)")
        }
    }
}
