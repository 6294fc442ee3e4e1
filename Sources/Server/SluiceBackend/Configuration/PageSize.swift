/// The size limit of one page in records and in bytes. A record larger than the bytes is a page of its own.
struct PageSize: Sendable, Hashable {
    var records: Int
    var bytes: Int
}
