public import SluiceBase

/// Why a hook refuses a local change. It is the ``SluiceError/cause`` of the error that the application gets.
///
/// ```swift
/// do {
///     try await todos.insert(["title": ""])
/// } catch let error as SluiceError where error.code == .refusedByHook {
///     for (field, problem) in error.refusal?.fields ?? [:] { print(field, problem) }
/// }
/// ```
public struct EnqueueRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason, as the hook's author names it for programs; nil for none.
    public var code: String?
    /// The reason, for a person.
    public var message: String
    /// What is wrong with single fields, by their names.
    public var fields: [String: String]
    /// Who refuses, among those that a hook asks, such as a plugin; nil for the hook itself.
    public var hookName: String?

    /// A reason.
    public init(_ message: String, code: String? = nil, fields: [String: String] = [:], hookName: String? = nil) {
        self.code = code
        self.message = message
        self.fields = fields
        self.hookName = hookName
    }

    /// The code and the fields; the message is the error's own.
    public var description: String {
        let problems = fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return ((code.map { [$0] } ?? []) + problems).joined(separator: ", ")
    }
}

extension SluiceError {
    /// The reason of the hook that refused the change, for an error of code `refusedByHook`.
    public var refusal: EnqueueRefusal? { cause as? EnqueueRefusal }
}
