extension JSON {
    /// A name as a text.
    public init(_ name: PropertyName) { self.init(name.text) }

    /// An id as a record holds it: a text or an integer.
    public init(_ id: RecordID) {
        switch id {
        case .string(let text): self.init(text)
        case .integer(let number): self.init(number)
        }
    }

    /// The value as the id of a record, if it is a text.
    package var textID: RecordID? { string.map { .string($0) } }
}
