/// The amount that one answer may hold: so many records, and of these only as many as make so many bytes together. A record that is
/// larger than that comes by itself.
struct PageSize: Sendable, Hashable {
    var records: Int
    var bytes: Int
}
