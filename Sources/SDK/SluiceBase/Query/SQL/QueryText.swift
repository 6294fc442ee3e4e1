/// A text as a cache key: two are the same only if their bytes are.
struct QueryText: BytewiseText {
    let text: String
    init(_ text: String) { self.text = text }
}
