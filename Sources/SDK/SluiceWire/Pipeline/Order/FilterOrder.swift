internal import SluiceBase

/// The order of a client's own filters.
enum FilterOrder {
    /// The filters in order. One without a place stands in the band `default` by the name of its type, after the one
    /// without a place that was given before it.
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

    /// The name of a type, with a number after it where there is one of that name already.
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

/// Stands in the place of filters whose places contradict each other: every request fails with the reason.
struct FailedOrder: Filter {
    let error: SluiceError

    func handle(_ request: Request, next: Next) async throws -> Response { throw error }
}
