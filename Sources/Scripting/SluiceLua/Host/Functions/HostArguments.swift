internal import SluiceCore

/// The arguments of a host function, read by type. A value of another type is an error of the script and is never
/// converted. Only a number counts as text where Lua converts it too.
struct HostArguments {
    let values: JSON
    /// The function's name in scripts.
    let function: String

    /// The argument at an index; nil if it is nil, null or missing.
    subscript(_ index: Int) -> JSON? { values[index].flatMap { $0.isNull ? nil : $0 } }

    /// Returns a text.
    func text(_ index: Int, _ what: String = "text") throws(ScriptFailure) -> String {
        guard let text = self[index]?.text else { throw refusal(what, self[index]) }
        return text
    }

    /// Returns an optional text.
    func optionalText(_ index: Int, _ what: String = "text") throws(ScriptFailure) -> String? {
        self[index] == nil ? nil : try text(index, what)
    }

    /// Returns an optional whole number.
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
    /// The text, or a number as text; nil for any other value.
    var text: String? { kind == .number ? description : string }

    /// The value in a refusal, at most a line long.
    fileprivate var described: String {
        switch kind {
        case .array, .object: "a table"
        default: String(description.prefix(64))
        }
    }
}
