/// The name of a record's property: of a column, or of a member of any JSON object.
///
/// Two names are equal only if their bytes are: the composed and the decomposed form of a letter name two properties.
/// A literal is one, and ``JSON`` takes a `String` for a name as well.
public struct PropertyName: BytewiseText {
    /// The name itself.
    public let text: String

    /// A name.
    public init(_ text: String) { self.text = text }
}
