package import SluiceCore

/// Puts the links of a chain in an order that depends only on their declarations, never on the order in which they
/// were given.
///
/// Bands come first. Inside of a band the names in `before` and `after` decide; then the narrower match, which only
/// the chain of conflicts asks for; then the higher priority; then the name, by its bytes.
package enum ChainOrder {
    /// Returns the links in order, the outermost first, each with the reason for its place.
    ///
    /// - Parameters:
    ///   - links: The links, no two of the same name.
    ///   - known: Names that `before` and `after` may use without such a link, for example of a plugin that is
    ///     switched off.
    /// - Throws: ``SluiceError`` of code `invalidArgument` for a name that is not known, two links of one name, a link
    ///   whose place contradicts the order of the bands, and a circle, which the message spells out.
    package static func resolve<Link>(
        _ links: [Placed<Link>], known: Set<String> = []
    ) throws(SluiceError) -> [Ordered<Link>] {
        do throws(ChainFault) {
            return try ordered(links, known: known)
        } catch {
            throw SluiceError(.invalidArgument, error.reason)
        }
    }

    /// Returns the same order, but throws the name of the link at fault.
    static func ordered<Link>(
        _ links: [Placed<Link>], known: Set<String>
    ) throws(ChainFault) -> [Ordered<Link>] {
        let graph = try ChainGraph(links.map(\.placement), known)
        let sort = ChainSort(graph, specificities: links.map(\.specificity))
        return try sort.run().map { Ordered(placed: links[$0.index], why: $0.why) }
    }
}

/// The reason why links have no order.
struct ChainFault: Error {
    /// The link with the impossible place.
    let author: String
    /// The place that it asks for, and the reason why it is impossible.
    let reason: String
}

/// Takes the links out of a graph one after the other, always the highest-ranking one that waits for no other link.
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
        // The next one to go is the last.
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

    private func ranks(_ link: Int, above other: Int) -> Bool {
        let (narrow, otherNarrow) = (specificities[link], specificities[other])
        if narrow != otherNarrow { return narrow > otherNarrow }
        let (one, two) = (graph.placements[link], graph.placements[other])
        if one.priority != two.priority { return one.priority > two.priority }
        return one.name.utf8.lexicographicallyPrecedes(two.name.utf8)
    }

    /// Returns the reason for a link's place: its band, the links it has to follow or precede, and the deciding
    /// difference from the next candidate.
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
        if specificities[link] != specificities[other] {
            reasons.append("narrower match than \(rival.name)")
        } else if placement.priority != rival.priority {
            reasons.append("priority \(placement.priority), \(rival.name) has \(rival.priority)")
        } else {
            reasons.append("name before \(rival.name)")
        }
        return reasons.joined(separator: "; ")
    }
}

/// The order of the links as a graph, by their declarations.
struct ChainGraph {
    struct Edge {
        let from: Int
        let to: Int
        /// The link that declares the edge.
        let author: Int
    }

    let placements: [Placement]
    /// The edges to the links before a link of the same band, by link.
    private(set) var before: [[Edge]]
    /// The edges to the links after it.
    private(set) var after: [[Edge]]

    init(_ placements: [Placement], _ known: Set<String>) throws(ChainFault) {
        self.placements = placements
        before = Array(repeating: [], count: placements.count)
        after = before
        var indexes: [String: Int] = [:]
        for (index, placement) in placements.enumerated() {
            guard indexes.updateValue(index, forKey: placement.name) == nil else {
                throw ChainFault(author: placement.name, reason: "two links are called \(placement.name)")
            }
        }
        for (author, placement) in placements.enumerated() {
            for name in placement.before {
                guard let other = try Self.index(of: name, indexes, known, "before", placement) else { continue }
                try add(Edge(from: author, to: other, author: author))
            }
            for name in placement.after {
                guard let other = try Self.index(of: name, indexes, known, "after", placement) else { continue }
                try add(Edge(from: other, to: author, author: author))
            }
        }
    }

    private static func index(
        of name: String, _ indexes: [String: Int], _ known: Set<String>, _ word: String, _ placement: Placement
    ) throws(ChainFault) -> Int? {
        if let index = indexes[name] { return index }
        guard !known.contains(name) else { return nil }
        let hint = NearestKey.suggestion(for: name, among: known.union(indexes.keys).sorted()) ?? ""
        throw ChainFault(
            author: placement.name,
            reason: "\(placement.name) wants to stand \(word) \(name), and there is no such link\(hint)")
    }

    private mutating func add(_ edge: Edge) throws(ChainFault) {
        let from = placements[edge.from]
        let to = placements[edge.to]
        guard from.band <= to.band else {
            throw ChainFault(
                author: placements[edge.author].name,
                reason: "\(saying(edge)), but the band \(from.band.rawValue) is after the band \(to.band.rawValue)")
        }
        // Between different bands the bands decide.
        guard from.band == to.band else { return }
        before[edge.to].append(edge)
        after[edge.from].append(edge)
    }

    private func saying(_ edge: Edge) -> String {
        let from = placements[edge.from].name
        let to = placements[edge.to].name
        return edge.author == edge.from ? "\(from) wants to stand before \(to)" : "\(to) wants to stand after \(from)"
    }

    /// Returns a fault with a circle among the links that could not be placed.
    func circle(among rest: Set<Int>) -> ChainFault {
        let start = rest.min { placements[$0].name.utf8.lexicographicallyPrecedes(placements[$1].name.utf8) }
        guard var index = start else {
            return ChainFault(author: "", reason: "the order is a circle")
        }
        var path: [Edge] = []
        var seen: [Int: Int] = [:]
        // Each of them waits for another one, so the way back reaches a link twice.
        while seen[index] == nil {
            seen[index] = path.count
            guard let edge = before[index].first(where: { rest.contains($0.from) }) else { break }
            path.append(edge)
            index = edge.from
        }
        let circle = path[(seen[index] ?? 0)...].reversed()
        let names = circle.map { placements[$0.from].name } + (circle.last.map { [placements[$0.to].name] } ?? [])
        let reasons = circle.map(saying).joined(separator: ", ")
        return ChainFault(
            author: circle.first.map { placements[$0.author].name } ?? "",
            reason: "the order is a circle: \(names.joined(separator: " → ")): \(reasons)")
    }
}
