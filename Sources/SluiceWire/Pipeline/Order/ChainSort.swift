/// Takes the links out of a graph one after the other, always the one that ranks highest of those that nothing holds
/// back any more.
struct ChainSort {
    private let graph: ChainGraph
    private let specificities: [Int]

    init(_ graph: ChainGraph, specificities: [Int]) {
        self.graph = graph
        self.specificities = specificities
    }

    func run() throws(ChainFault) -> [(index: Int, why: String)] {
        var result: [(index: Int, why: String)] = []
        for band in FilterBand.allCases {
            let links = graph.placements.indices.filter { graph.placements[$0].band == band }
            result += try order(links)
        }
        return result
    }

    private func order(_ links: [Int]) throws(ChainFault) -> [(index: Int, why: String)] {
        var waiting: [Int: Int] = [:]
        var ready: [Int] = []
        for link in links {
            if graph.before[link].isEmpty { ready.append(link) } else { waiting[link] = graph.before[link].count }
        }
        // The one that goes next is the last.
        ready.sort { ranks($1, above: $0) }
        var result: [(index: Int, why: String)] = []
        while let link = ready.popLast() {
            result.append((link, why(link, over: ready.last)))
            for edge in graph.after[link] {
                guard let count = waiting[edge.to] else { continue }
                waiting[edge.to] = count > 1 ? count - 1 : nil
                guard count == 1 else { continue }
                var low = 0
                var high = ready.count
                while low < high {
                    let middle = (low + high) / 2
                    if ranks(edge.to, above: ready[middle]) { low = middle + 1 } else { high = middle }
                }
                ready.insert(edge.to, at: low)
            }
        }
        guard waiting.isEmpty else { throw graph.circle(among: Set(waiting.keys)) }
        return result
    }

    private func specificity(_ link: Int) -> Int { specificities.isEmpty ? 0 : specificities[link] }

    private func ranks(_ link: Int, above other: Int) -> Bool {
        let (narrow, otherNarrow) = (specificity(link), specificity(other))
        if narrow != otherNarrow { return narrow > otherNarrow }
        let (one, two) = (graph.placements[link], graph.placements[other])
        if one.priority != two.priority { return one.priority > two.priority }
        return one.name.utf8.lexicographicallyPrecedes(two.name.utf8)
    }

    /// Why a link stands where it does: its band, what holds it, and what decided over the next that could have stood
    /// there.
    private func why(_ link: Int, over other: Int?) -> String {
        let placement = graph.placements[link]
        var reasons = ["band \(placement.band.rawValue)"]
        for edge in graph.before[link] {
            let name = graph.placements[edge.from].name
            reasons.append(edge.author == link ? "after \(name)" : "after \(name), which says so")
        }
        for edge in graph.after[link] where edge.author == link {
            reasons.append("before \(graph.placements[edge.to].name)")
        }
        guard let other else { return reasons.joined(separator: "; ") }
        let rival = graph.placements[other]
        if specificity(link) != specificity(other) {
            reasons.append("narrower match than \(rival.name)")
        } else if placement.priority != rival.priority {
            reasons.append("priority \(placement.priority), \(rival.name) has \(rival.priority)")
        } else {
            reasons.append("name before \(rival.name)")
        }
        return reasons.joined(separator: "; ")
    }
}
