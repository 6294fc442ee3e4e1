internal import SluiceCore

/// What a script calls a host function with, read by type: a value of another type is an error of the script, and never
/// taken for something else. A number is a text where Lua takes it for one.
struct HostArguments {
    let values: JSON
    /// The function's name as scripts call it.
    let function: String

    /// The value at a place; nil where it is nil, null or not there.
    subscript(_ index: Int) -> JSON? { values[index].flatMap { $0.isNull ? nil : $0 } }

    /// A text.
    func text(_ index: Int, _ what: String = "text") throws(ScriptFailure) -> String {
        guard let text = self[index]?.text else { throw refusal(what, self[index]) }
        return text
    }

    /// A text that may be left out.
    func optionalText(_ index: Int, _ what: String = "text") throws(ScriptFailure) -> String? {
        self[index] == nil ? nil : try text(index, what)
    }

    /// A whole number that may be left out.
    func optionalWhole(_ index: Int, _ what: String) throws(ScriptFailure) -> Int64? {
        guard let value = self[index] else { return nil }
        guard let number = value.int ?? value.double.flatMap({ Int64(exactly: $0) }) else { throw refusal(what, value) }
        return number
    }

    func refusal(_ what: String, _ found: JSON?) -> ScriptFailure {
        ScriptFailure(.runtime, "\(function) takes \(what), not \(found.map { $0.described } ?? "nothing")")
    }
}

extension JSON {
    /// A text, or a number as its text; nil for everything else.
    var text: String? { kind == .number ? description : string }

    /// The value in a refusal, not longer than a line.
    fileprivate var described: String {
        switch kind {
        case .array, .object: "a table"
        default: String(description.prefix(64))
        }
    }
}
