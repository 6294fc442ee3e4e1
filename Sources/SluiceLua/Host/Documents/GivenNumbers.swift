internal import SluiceCore

/// The numbers of what a script was given that have to be known again in what it gives back. The originals are looked
/// through once, when the first of them is asked for.
final class GivenNumbers {
    private let originals: [JSON]
    /// The numbers that scripts read as text.
    private(set) lazy var long = LongNumbers(of: originals)
    /// The whole numbers beyond 2⁵³ that were floats already: they are no script's.
    private(set) lazy var inexact: Set<Double> = {
        var found: Set<Double> = []
        for original in originals { Self.collect(original, into: &found) }
        return found
    }()

    init(of originals: [JSON]) { self.originals = originals }

    /// The value, where it is a whole number that a float cannot hold exactly.
    static func inexactWhole(_ value: JSON) -> Double? {
        guard case .double(let double)? = value.number?.storage, double.magnitude > 0x1p53, double == double.rounded()
        else { return nil }
        return double
    }

    private static func collect(_ value: JSON, into found: inout Set<Double>) {
        switch value.kind {
        case .number: if let double = inexactWhole(value) { found.insert(double) }
        case .array: for element in value.elements ?? [] { collect(element, into: &found) }
        case .object: for (_, member) in value.members ?? [] { collect(member, into: &found) }
        case .string, .bool, .null: break
        }
    }
}
