internal import HTTPTypes
internal import SluiceBase
internal import SluiceWire

/// The target of a request in the form of the tables wire, by its path below the endpoint's.
enum TablePath: Hashable {
    /// `tables/T`
    case table(String)
    /// `tables/T/id`
    case record(String, RecordID)
    /// `tables/T/$key`
    case key(String)
    /// `tables/T/$digest`
    case digest
    /// `tables/$batch`
    case batch
    /// `api/…`, or any other path: the address below the service's root, with its query.
    case other(String)

    init(_ request: SyncRequest, endpoint: Endpoint) {
        let path = request.head.path ?? "/"
        let base = path.prefix { $0 != "?" }
        guard base.hasPrefix(endpoint.path) else {
            self = .other(path)
            return
        }
        let segments = base.dropFirst(endpoint.path.count).split(separator: "/")
        func decoded(_ segment: Substring) -> String { PercentEncoding.decoded(segment.replacing("+", with: "%2B")) }
        switch (segments.first, segments.count) {
        case ("tables", 2) where segments[1] == "$batch": self = .batch
        case ("tables", 2): self = .table(decoded(segments[1]))
        case ("tables", 3) where segments[2] == "$digest": self = .digest
        case ("tables", 3) where segments[2] == RecordName.path: self = .key(decoded(segments[1]))
        case ("tables", 3): self = .record(decoded(segments[1]), .string(decoded(segments[2])))
        case ("api", 2...): self = .other("\(endpoint.path)/\(path.dropFirst(endpoint.path.count + 5))")
        default: self = .other(path)
        }
    }
}
