internal import SluiceBase

/// The order of a client's own filters.
enum FilterOrder {
    /// Returns the filters in order. A filter without a place is in the band `default` under the name of its type,
    /// after the previous filter without a place.
    static func resolve(_ filters: [any Filter]) throws(SluiceError) -> [Ordered<any Filter>] {
        var names = Set(filters.compactMap { ($0 as? PlacedFilter)?.placement.name })
        var last: String?
        var links: [Placed<any Filter>] = []
        for filter in filters {
            if let placed = filter as? PlacedFilter {
                try placed.check()
                links.append(Placed(placed, placement: placed.placement))
                continue
            }
            let name = free("\(type(of: filter))", &names)
            links.append(Placed(filter, placement: Placement(name, after: last.map { [$0] } ?? [])))
            last = name
        }
        return try ChainOrder.resolve(links)
    }

    /// Returns the name of a type, with a number after it if the name is taken.
    private static func free(_ name: String, _ names: inout Set<String>) -> String {
        var free = name
        var number = 2
        while !names.insert(free).inserted {
            free = "\(name)#\(number)"
            number += 1
        }
        return free
    }
}

/// Replaces filters whose places contradict each other: every request fails with the reason.
struct FailedOrder: Filter {
    let error: SluiceError

    func handle(_ request: Request, next: Next) async throws -> Response { throw error }
}
