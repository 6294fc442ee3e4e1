internal import CLuaSandbox
package import SluiceCore

/// An argument of a hook.
package struct LuaArgument: Sendable {
    /// The prelude's class for the script's view of it; nil for a plain value.
    var type: String?
    var value: JSON

    package init(_ type: String?, _ value: JSON) {
        self.type = type
        self.value = value
    }

    /// Calls `body` with all arguments as C structures, which live as long as it runs.
    static func with<Result>(
        _ arguments: ArraySlice<LuaArgument>, after done: [sluice_argument] = [],
        _ body: ([sluice_argument]) -> Result
    ) -> Result {
        guard let first = arguments.first else { return body(done) }
        let handle = first.value.handle
        return withExtendedLifetime(handle) {
            first.withType { type in
                let argument = sluice_argument(class_name: type, value: handle.raw, reader: nil)
                return with(arguments.dropFirst(), after: done + [argument], body)
            }
        }
    }

    private func withType<Result>(_ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        guard let type else { return body(nil) }
        return type.withCString { body($0) }
    }
}
