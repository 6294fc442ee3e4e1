/// A text that something is kept for: two are the same only if their bytes are.
struct QueryText: BytewiseText {
    let text: String
    init(_ text: String) { self.text = text }
}
