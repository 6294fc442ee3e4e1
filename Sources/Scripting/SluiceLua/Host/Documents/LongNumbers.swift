internal import CJansson
internal import SluiceCore

/// Numbers that scripts read as text, because neither number type of Lua holds them exactly: `1.10`, 2⁶⁴.
///
/// A text that a script writes back becomes the number again. So a body or a record keeps its numbers when a script
/// reads and writes it whole.
struct LongNumbers {
    private var numbers: [String: JSON] = [:]
    private var texts: Set<String> = []

    /// Collects the numbers of the script's arguments.
    ///
    /// A text moved to another place becomes a number too, if it is a number in the arguments and nowhere a text.
    init(of originals: [JSON]) {
        guard originals.contains(where: Self.holdsAny) else { return }
        for original in originals { collect(original) }
    }

    /// Returns a value with its numbers restored.
    ///
    /// - Parameter places: the values of the originals at the same place.
    func restored(_ value: JSON, from places: [JSON]) -> JSON { numbers.isEmpty ? value : replaced(value, places) }

    /// Whether a value from a script could hold such a text. Only then it has to be restored.
    static func mayBeIn(_ value: JSON) -> Bool {
        switch value.kind {
        case .string: value.string?.utf8.first.map { $0 == UInt8(ascii: "-") || $0 &- 0x30 < 10 } ?? false
        case .array, .object: true
        case .number, .bool, .null: false
        }
    }

    private static func isLong(_ value: JSON) -> Bool {
        if case .text? = value.number?.storage { true } else { false }
    }

    private static func holdsAny(_ value: JSON) -> Bool {
        switch value.kind {
        case .number: isLong(value)
        case .array: (value.elements ?? []).contains(where: holdsAny)
        case .object: (value.members ?? []).contains { holdsAny($0.value) }
        case .string, .bool, .null: false
        }
    }

    private mutating func collect(_ value: JSON) {
        switch value.kind {
        case .number: if Self.isLong(value), let number = value.number { numbers[number.description] = value }
        case .string: if let text = value.string { texts.insert(text) }
        case .array: for element in value.elements ?? [] { collect(element) }
        case .object: for member in value.members ?? [] { collect(member.value) }
        case .bool, .null: break
        }
    }

    private func replaced(_ value: JSON, _ places: [JSON]) -> JSON {
        switch value.kind {
        case .string: number(value, places) ?? value
        case .array:
            JSON(
                (value.elements ?? []).enumerated().map { index, element in
                    replaced(element, places.compactMap { $0[index] })
                })
        case .object:
            JSON(
                members: (value.members ?? []).map { name, member in
                    (name, replaced(member, places.compactMap { $0[name] }))
                })
        case .number, .bool, .null: value
        }
    }

    private func number(_ value: JSON, _ places: [JSON]) -> JSON? {
        guard let text = value.string, let number = numbers[text], !places.contains(value) else { return nil }
        return places.contains(number) || !texts.contains(text) ? number : nil
    }
}

/// The numbers of a script's arguments that have to be recognized in its result. The originals are searched once, on
/// first use.
final class GivenNumbers {
    private let originals: [JSON]
    /// The numbers that scripts read as text.
    private(set) lazy var long = LongNumbers(of: originals)
    /// The whole numbers beyond 2⁵³ that were floats in the originals already: no script made them.
    private(set) lazy var inexact: Set<Double> = {
        var found: Set<Double> = []
        for original in originals { Self.collect(original, into: &found) }
        return found
    }()

    init(of originals: [JSON]) { self.originals = originals }

    /// Returns the value if it is a whole number that a float cannot hold exactly; else nil.
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

/// Comparison by identity: a value that a script did not touch is the same object, so its content is not compared.
extension JSON {
    /// Whether this object has a different value under the name.
    func hasOther(_ name: StaticString, than other: JSON) -> Bool {
        let (mine, others) = (handle, other.handle)
        return withExtendedLifetime((mine, others)) {
            let (left, right) = (mine.member(name), others.member(name))
            return left != right && json_equal(left, right) == 0
        }
    }

    /// Returns the elements of this list, each with the index of the identical one in another list.
    func places(in other: JSON) -> [(element: JSON, place: Int?)] {
        let (mine, others) = (handle, other.handle)
        return withExtendedLifetime((mine, others)) {
            let old = others.elementPointers
            return mine.elementPointers.map { element in
                (JSON(JSONHandle(sharingRaw: element)), old.firstIndex(of: element))
            }
        }
    }
}

extension JSONHandle {
    private var pointer: UnsafeMutablePointer<json_t>? {
        UnsafeMutableRawPointer(mutating: raw)?.assumingMemoryBound(to: json_t.self)
    }

    fileprivate func member(_ name: StaticString) -> UnsafeMutablePointer<json_t>? {
        json_object_getn(pointer, name.characters, name.utf8CodeUnitCount)
    }

    fileprivate var elementPointers: [UnsafeMutablePointer<json_t>] {
        (0..<json_array_size(pointer)).compactMap { json_array_get(pointer, $0) }
    }
}
