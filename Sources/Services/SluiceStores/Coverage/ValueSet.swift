internal import SluiceBase

/// The values that a property may have, as queries compare them: by kind, and for numbers, texts and dates by their
/// position on a line.
struct ValueSet: Sendable {
    /// A number as queries compare numbers: integers and doubles exactly.
    struct Number: Comparable, Sendable {
        var value: QueryValue

        static func < (left: Number, right: Number) -> Bool {
            (QueryOperators.order(left.value, right.value) ?? 0) < 0
        }

        static func == (left: Number, right: Number) -> Bool { QueryOperators.order(left.value, right.value) == 0 }
    }

    /// A text by its bytes, which is the order of code points. Every cut is before a text: the next text is the same
    /// with a NUL.
    struct Text: Comparable, Sendable {
        var bytes: [UInt8]

        static func < (left: Text, right: Text) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }
    }

    var hasNull: Bool
    var bools: Set<Bool>
    var numbers: LineSet<Number>
    var texts: LineSet<Text>
    /// For texts: the moments that they express, if they express one; for a date column, the moments.
    var moments: LineSet<Int64>
    /// Whether the set includes texts that express no moment.
    var hasOtherTexts: Bool
    /// Objects and arrays.
    var hasOther: Bool

    static let empty = ValueSet(
        hasNull: false, bools: [], numbers: .empty, texts: .empty, moments: .empty, hasOtherTexts: false,
        hasOther: false)

    /// Returns every value that a property of that type may have; without a type, every value.
    static func all(of type: TableSchema.ColumnType?) -> ValueSet {
        var all = ValueSet.empty
        all.hasNull = true
        switch type {
        case nil:
            (all.bools, all.numbers, all.texts, all.moments) = ([false, true], .all, .all, .all)
            (all.hasOtherTexts, all.hasOther) = (true, true)
        case .boolean: all.bools = [false, true]
        case .integer, .real: all.numbers = .all
        case .string: (all.texts, all.moments, all.hasOtherTexts) = (.all, .all, true)
        case .date: all.moments = .all
        case .json: all.hasOther = true
        }
        return all
    }

    func intersection(_ other: ValueSet) -> ValueSet {
        ValueSet(
            hasNull: hasNull && other.hasNull, bools: bools.intersection(other.bools),
            numbers: numbers.intersection(other.numbers), texts: texts.intersection(other.texts),
            moments: moments.intersection(other.moments), hasOtherTexts: hasOtherTexts && other.hasOtherTexts,
            hasOther: hasOther && other.hasOther)
    }

    /// Whether no property of that type has such a value. An undecidable case counts as not empty.
    func isEmpty(of type: TableSchema.ColumnType?) -> Bool {
        if hasNull || !bools.isEmpty || hasOther { return false }
        let hasNumbers = type == .integer ? Self.hasInteger(numbers) : !numbers.isEmpty
        // A text is in the set if it lies there and expresses such a moment or none.
        let hasTexts = !texts.isEmpty && (!moments.isEmpty || hasOtherTexts)
        return !hasNumbers && !(type == .date ? Self.hasMoment(moments) : hasTexts)
    }

    private static func hasInteger(_ numbers: LineSet<Number>) -> Bool {
        numbers.pieces.contains { piece in
            let low = piece.from.map { first(at: $0) } ?? .some(.min)
            guard let low else { return false }
            guard let end = piece.to else { return true }
            guard let limit = first(at: end) else { return true }
            return low < limit
        }
    }

    /// Returns the first integer that is not before the cut; nil if there is none.
    private static func first(at cut: LineSet<Number>.Cut) -> Int64? {
        switch cut.point.value {
        case .integer(let value): return cut.isAfter ? (value == .max ? nil : value + 1) : value
        case .real(let value):
            let up = value.rounded(.up)
            guard let whole = Int64(exactly: up) else { return up < 0 ? .min : nil }
            return up == value && cut.isAfter ? (whole == .max ? nil : whole + 1) : whole
        default: return nil
        }
    }

    private static func hasMoment(_ moments: LineSet<Int64>) -> Bool {
        moments.pieces.contains { piece in
            guard let from = piece.from, let to = piece.to else { return true }
            let low = from.isAfter ? from.point.addingReportingOverflow(1).partialValue : from.point
            let limit = to.isAfter ? to.point.addingReportingOverflow(1).partialValue : to.point
            return low < limit
        }
    }
}

extension ValueSet {
    /// The values of a property of that type for which a comparison with a constant is true; nil for unsupported
    /// constants.
    init?(_ operation: QueryExpression.BinaryOperator, _ constant: QueryValue, of type: TableSchema.ColumnType?) {
        let all = ValueSet.all(of: type)
        if operation == .ne {
            guard let equal = ValueSet(.eq, constant, of: type) else { return nil }
            self = equal.complement(of: type)
            return
        }
        self = .empty
        switch (constant, type) {
        case (.null, _): hasNull = operation == .eq
        case (.bool(let value), _):
            bools = Set(all.bools.filter { QueryOperators.compare(operation, .bool($0), .bool(value)) })
        case (.integer, _), (.real, _):
            numbers = Self.line(operation, Number(value: constant)).intersection(all.numbers)
        case (.string(let text), .date):
            // Compared with a date column, the text is read as a date.
            if let moment = Timestamp(text) { moments = Self.line(operation, moment.ticks) }
        case (.string(let text), _):
            texts = Self.texts(operation, text).intersection(all.texts)
            if !all.texts.isEmpty { (moments, hasOtherTexts) = (.all, true) }
        case (.date(let moment), _):
            moments = Self.line(operation, moment.ticks).intersection(all.moments)
            texts = all.texts
        case (.time, _), (.duration, _), (.guid, _): return nil
        case (.point, _), (.other, _): break
        }
    }

    /// The texts with a prefix.
    init(prefix: String, of type: TableSchema.ColumnType?) {
        let all = ValueSet.all(of: type)
        self = .empty
        (texts, moments, hasOtherTexts) = (
            Self.prefixed(prefix).intersection(all.texts), all.moments, all.hasOtherTexts
        )
    }

    /// The texts without a prefix.
    init(withoutPrefix prefix: String, of type: TableSchema.ColumnType?) {
        let all = ValueSet.all(of: type)
        self = .empty
        texts = Self.prefixed(prefix).complement.intersection(all.texts)
        (moments, hasOtherTexts) = (all.moments, all.hasOtherTexts)
    }

    /// Returns the values outside of the set. Correct for sets of one comparison, which are about texts or about their
    /// moments, but not about both.
    func complement(of type: TableSchema.ColumnType?) -> ValueSet {
        let all = ValueSet.all(of: type)
        var rest = ValueSet(
            hasNull: all.hasNull && !hasNull, bools: all.bools.subtracting(bools),
            numbers: numbers.complement.intersection(all.numbers), texts: all.texts, moments: all.moments,
            hasOtherTexts: all.hasOtherTexts, hasOther: all.hasOther && !hasOther)
        if type == .date {
            rest.moments = moments.complement
        } else if texts.isEmpty || (moments.isEmpty && !hasOtherTexts) {
            // No text is in the set, so all are outside.
        } else if hasOtherTexts && moments.complement.isEmpty {
            rest.texts = texts.complement.intersection(all.texts)
        } else {
            rest.moments = moments.complement.intersection(all.moments)
            rest.hasOtherTexts = all.hasOtherTexts && !hasOtherTexts
        }
        return rest
    }

    private static func line<Point>(_ operation: QueryExpression.BinaryOperator, _ point: Point) -> LineSet<Point> {
        switch operation {
        case .eq: .only(point)
        case .lt: .before(point)
        case .le: .before(point, isAfter: true)
        case .gt: .from(point, isAfter: true)
        case .ge: .from(point)
        default: .empty
        }
    }

    private static func texts(_ operation: QueryExpression.BinaryOperator, _ text: String) -> LineSet<Text> {
        let here = Text(bytes: Array(text.utf8))
        let next = Text(bytes: here.bytes + [0])
        return switch operation {
        case .eq: .between(.init(point: here, isAfter: false), .init(point: next, isAfter: false))
        case .lt: .before(here)
        case .le: .before(next)
        case .gt: .from(next)
        case .ge: .from(here)
        default: .empty
        }
    }

    private static func prefixed(_ prefix: String) -> LineSet<Text> {
        let first = Text(bytes: Array(prefix.utf8))
        guard let last = first.bytes.last else { return .all }
        // No byte of UTF-8 is the largest possible byte.
        let end = Text(bytes: first.bytes.dropLast() + [last + 1])
        return .between(.init(point: first, isAfter: false), .init(point: end, isAfter: false))
    }
}
