/// The name of a record's property: of a column, or of a member of any JSON object.
///
/// Two names are equal only if their bytes are: the composed and the decomposed form of a letter name two properties. A
/// string literal is a name, and ``JSON`` accepts a `String` as a name too.
public struct PropertyName: BytewiseText {
    /// The name itself.
    public let text: String

    /// A name.
    public init(_ text: String) { self.text = text }
}
