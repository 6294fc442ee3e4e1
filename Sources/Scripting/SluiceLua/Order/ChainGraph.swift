internal import SluiceCore

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
