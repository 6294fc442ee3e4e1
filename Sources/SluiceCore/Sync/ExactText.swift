/// A text that equals another only if both are the same code points. Swift's `String` takes the composed and the
/// decomposed form of a letter for equal; for a server they are two ids.
struct ExactText: Sendable, Hashable {
    private let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }
}
