/// A text that no description, log or dump shows.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The text itself.
    package let text: String

    package init(_ text: String) { self.text = text }

    package var description: String { "(hidden)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
