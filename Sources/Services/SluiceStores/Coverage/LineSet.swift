/// A set of points on a line, stored as the cuts between outside and inside.
struct LineSet<Point: Comparable & Sendable>: Sendable {
    /// A place between points: just before one, or just after it.
    struct Cut: Comparable, Sendable {
        var point: Point
        var isAfter: Bool

        static func < (left: Cut, right: Cut) -> Bool {
            left.point == right.point ? !left.isAfter && right.isAfter : left.point < right.point
        }
    }

    /// Whether the points before the first cut are inside.
    private(set) var beginsInside: Bool
    /// In their order, without repetition.
    private(set) var cuts: [Cut]

    static var empty: LineSet { LineSet(beginsInside: false, cuts: []) }
    static var all: LineSet { LineSet(beginsInside: true, cuts: []) }

    /// Returns the points before a cut.
    static func before(_ point: Point, isAfter: Bool = false) -> LineSet {
        LineSet(beginsInside: true, cuts: [Cut(point: point, isAfter: isAfter)])
    }

    /// Returns the points from a cut on.
    static func from(_ point: Point, isAfter: Bool = false) -> LineSet { before(point, isAfter: isAfter).complement }

    /// Returns the points from the first cut to the second; none if that does not come later.
    static func between(_ first: Cut, _ second: Cut) -> LineSet {
        first < second ? LineSet(beginsInside: false, cuts: [first, second]) : .empty
    }

    /// Returns that single point.
    static func only(_ point: Point) -> LineSet {
        between(Cut(point: point, isAfter: false), Cut(point: point, isAfter: true))
    }

    /// Whether no point is inside, on a line that has a point between any two cuts.
    var isEmpty: Bool { !beginsInside && cuts.isEmpty }

    var complement: LineSet { LineSet(beginsInside: !beginsInside, cuts: cuts) }

    func intersection(_ other: LineSet) -> LineSet { merged(other) { $0 && $1 } }
    func union(_ other: LineSet) -> LineSet { merged(other) { $0 || $1 } }

    /// The pieces inside, each from a cut to a cut; nil is the end of the line.
    var pieces: [(from: Cut?, to: Cut?)] {
        var pieces: [(from: Cut?, to: Cut?)] = []
        var start: Cut??
        if beginsInside { start = .some(nil) }
        for cut in cuts {
            if let from = start {
                pieces.append((from, cut))
                start = nil
            } else {
                start = .some(cut)
            }
        }
        if let from = start { pieces.append((from, nil)) }
        return pieces
    }

    private func merged(_ other: LineSet, _ isInside: (Bool, Bool) -> Bool) -> LineSet {
        var (left, right) = (beginsInside, other.beginsInside)
        var result = LineSet(beginsInside: isInside(left, right), cuts: [])
        var current = result.beginsInside
        var (index, otherIndex) = (0, 0)
        while index < cuts.count || otherIndex < other.cuts.count {
            let cut: Cut
            if otherIndex == other.cuts.count || (index < cuts.count && cuts[index] <= other.cuts[otherIndex]) {
                cut = cuts[index]
            } else {
                cut = other.cuts[otherIndex]
            }
            if index < cuts.count, cuts[index] == cut { (left, index) = (!left, index + 1) }
            if otherIndex < other.cuts.count, other.cuts[otherIndex] == cut {
                (right, otherIndex) = (!right, otherIndex + 1)
            }
            let next = isInside(left, right)
            if next != current { result.cuts.append(cut) }
            current = next
        }
        return result
    }
}
