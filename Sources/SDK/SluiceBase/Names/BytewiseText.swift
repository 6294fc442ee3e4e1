#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A text with equality by its bytes in UTF-8.
///
/// Swift's `String` treats the composed and the decomposed form of a letter as equal. For servers, databases and JSON
/// they are two texts: two records, two properties. So ids and names have types of their own, and the compiler prevents
/// comparing one as a `String`. They are ordered by their bytes, too, as databases sort.
public protocol BytewiseText: Hashable, Comparable, Sendable, Codable, CustomStringConvertible,
    ExpressibleByStringInterpolation
{
    /// The text itself.
    var text: String { get }
    /// A text.
    init(_ text: String)
}

extension BytewiseText {
    /// Whether both have the same bytes.
    public static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

    /// Whether the left text's bytes come first.
    public static func < (left: Self, right: Self) -> Bool { left.text.precedesInBytes(right.text) }

    /// Adds the bytes to the hash.
    public func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }

    /// The text.
    public var description: String { text }

    /// A text.
    public init(stringLiteral value: String) { self.init(value) }

    /// Reads a text.
    public init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(String.self)) }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension String {
    /// Whether both have the same bytes in UTF-8; `==` is looser.
    package func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        // Access through the views costs a call for each byte.
        let areSame = utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { others in
                guard let left = bytes.baseAddress, let right = others.baseAddress else { return true }
                // Two equal keys mostly share their storage.
                return left == right || memcmp(left, right, bytes.count) == 0
            }
        }
        return (areSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Whether the text's bytes in UTF-8 come before the other's.
    func precedesInBytes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }

    /// Adds the bytes in UTF-8, in agreement with ``hasSameBytes(as:)``.
    package func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

/// A name that is neither a record's id nor a property's: of a table, a user or a migration; or another key.
package struct ExactName: BytewiseText {
    package let text: String

    package init(_ text: String) { self.text = text }
}
