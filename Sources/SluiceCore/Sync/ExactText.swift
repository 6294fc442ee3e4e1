/// A text that equals another only if both are the same code points. Swift's `String` takes the composed and the
/// decomposed form of a letter for equal; for a server they are two ids.
package struct ExactText: Sendable, Hashable {
    /// The text itself.
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ExactText, right: ExactText) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    package func hash(into hasher: inout Hasher) {
        let isHashed: Void? = text.utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: .init($0)) }
        if isHashed == nil { for byte in text.utf8 { hasher.combine(byte) } }
    }
}
