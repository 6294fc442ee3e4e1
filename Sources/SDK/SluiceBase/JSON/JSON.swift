internal import CJansson

/// A JSON value: a document, a record, or a part of one.
///
/// `JSON` is a value type with copy-on-write: a copy costs a reference, and a change never shows in another copy. It
/// wraps a value of the C library jansson, so that scripts and Swift read the same memory without conversion. Objects
/// keep the order of their members, but equality ignores it.
///
/// ```swift
/// var movie = try JSON(parsing: #"{"id": "id-000", "year": 1994}"#)
/// movie["title"] = "The Shawshank Redemption"
/// movie["year"]?.int            // 1994
/// movie["rating"]               // nil: not a member
/// String(describing: movie)     // {"id":"id-000","year":1994,"title":"The Shawshank Redemption"}
/// ```
public struct JSON: Sendable {
    /// The deepest allowed nesting of arrays and objects; deeper text is refused.
    public static let maximumDepth = 64

    /// The kind of a JSON value.
    public enum Kind: Sendable, Hashable {
        /// The kinds of RFC 8259.
        case null, bool, number, string, array, object
    }

    package var handle: JSONHandle

    package init(_ handle: JSONHandle) { self.handle = handle }

    /// The kind of the value.
    public var kind: Kind { handle.kind }

    /// `null`.
    public static let null = JSON(JSONHandle(owning: json_null()))
    /// An object without members.
    public static var object: JSON { JSON(JSONHandle(owning: json_object())) }
    /// An array without elements.
    public static var array: JSON { JSON(JSONHandle(owning: json_array())) }

    /// `true` or `false`.
    public init(_ value: Bool) { handle = JSONHandle(owning: value ? json_true() : json_false()) }

    /// An integer.
    public init(_ value: Int64) { handle = JSONHandle(owning: json_integer(value)) }

    /// An integer.
    public init(_ value: Int) { self.init(Int64(value)) }

    /// A number; `null` where the double is not finite, which JSON cannot express.
    public init(_ value: Double) { self = JSON.Number(value).map(JSON.init) ?? .null }

    /// A number.
    public init(_ value: JSON.Number) { handle = JSONHandle(number: value) }

    /// A string.
    public init(_ value: String) { handle = JSONHandle(string: value) }

    /// An array of `elements`.
    public init(_ elements: some Sequence<JSON>) {
        self = .array
        for element in elements { append(element) }
    }

    /// Creates an object of `members`; of a repeated name the last value counts.
    public init(members: some Sequence<(String, JSON)>) {
        self = .object
        for (name, value) in members { self[name] = value }
    }

    /// Creates an object of `members`; of a repeated name the last value counts.
    public init(members: some Sequence<(PropertyName, JSON)>) {
        self = .object
        for (name, value) in members { self[name] = value }
    }

    /// Whether the value is `null`.
    public var isNull: Bool { kind == .null }

    /// The value, if it is `true` or `false`.
    public var bool: Bool? { handle.bool }
    /// The value, if it is a number.
    public var number: JSON.Number? { handle.number }
    /// The value, if it is a number that is an `Int64` exactly.
    public var int: Int64? { number?.int }
    /// The nearest double, if the value is a number.
    public var double: Double? { number?.double }
    /// The value, if it is a string.
    public var string: String? { handle.string }

    /// The number of elements or members; 0 for any other value.
    public var count: Int { handle.count }
    /// The elements in order, if the value is an array.
    public var elements: [JSON]? { handle.elements?.map(JSON.init) }
    /// The members in order, if the value is an object.
    public var members: [(name: PropertyName, value: JSON)]? {
        handle.members?.map { (PropertyName($0.name), JSON($0.value)) }
    }
    /// The names of the members in order; none for any other value.
    public var names: [PropertyName] { handle.names.map { PropertyName($0) } }

    /// The member of that name; nil if there is none or the value is not an object. Setting nil removes it; setting a
    /// member of another kind of value makes that an object.
    ///
    /// No member's name has a NUL character, here as in texts: setting such a name changes nothing.
    public subscript(name: String) -> JSON? {
        get { handle.member(name).map(JSON.init) }
        set {
            guard !name.utf8.contains(0) else { return }
            makeUnique(.object)
            handle.setMember(name, newValue?.handle)
        }
    }

    /// The member of that name, as for a `String`.
    public subscript(name: PropertyName) -> JSON? {
        get { self[name.text] }
        set { self[name.text] = newValue }
    }

    /// Returns the value with those members set.
    package func setting(_ members: JSON) -> JSON {
        var value = self
        for (name, member) in members.members ?? [] { value[name] = member }
        return value
    }

    /// Calls `body` with each member, its name in UTF-8; not at all for a value that is not an object.
    package func forEachMember(_ body: (UnsafeBufferPointer<UInt8>, JSON) throws -> Void) rethrows {
        guard kind == .object else { return }
        try handle.forEachMember { try body($0, JSON(JSONHandle(sharing: $1))) }
    }

    /// Calls `body` with the text of a string in UTF-8, valid during the call; returns nil for any other value.
    package func withText<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result? { handle.withText(body) }

    /// Calls `body` with the name of each member and whether its value is an object or an array. Creates no values.
    package func visitMembers(_ body: (_ name: UnsafeBufferPointer<UInt8>, _ isContainer: Bool) -> Void) {
        guard kind == .object else { return }
        handle.forEachMember { body($0, JSONHandle.isContainer($1)) }
    }

    /// The element at that index; nil if there is none or the value is not an array.
    public subscript(index: Int) -> JSON? { handle.element(index).map(JSON.init) }

    /// Adds an element to the end; a value that is not an array becomes one.
    public mutating func append(_ element: JSON) {
        makeUnique(.array)
        handle.append(element.handle)
    }

    /// Makes the value a `kind` that no other value shares. Children stay shared until they are changed.
    private mutating func makeUnique(_ wanted: Kind) {
        if kind != wanted {
            self = wanted == .object ? .object : .array
        } else if !isKnownUniquelyReferenced(&handle) || handle.isShared {
            handle = handle.shallowCopy()
        }
    }
}

extension JSON: Hashable {
    /// Whether both are the same value. Numbers compare by value, strings by code points, and objects in any order of
    /// their members.
    public static func == (left: JSON, right: JSON) -> Bool {
        if left.handle === right.handle || left.handle.isIdentical(right.handle) { return true }
        guard left.kind == right.kind else { return false }
        switch left.kind {
        case .null: return true
        case .bool: return left.bool == right.bool
        case .number: return left.number == right.number
        // By code points: JSON has no canonical equivalence.
        case .string: return left.handle.hasSameText(as: right.handle)
        case .array: return left.elements == right.elements
        case .object:
            guard left.count == right.count, let members = left.members else { return false }
            return members.allSatisfy { right[$0.name] == $0.value }
        }
    }

    /// Adds the value to `hasher`; equal values add the same.
    public func hash(into hasher: inout Hasher) {
        switch kind {
        case .null: hasher.combine(0)
        case .bool: hasher.combine(bool)
        case .number: hasher.combine(number)
        case .string: (string ?? "").hashBytes(into: &hasher)
        case .array: hasher.combine(elements)
        // Equality ignores the members' order, and so does the hash.
        case .object: hasher.combine(members?.reduce(0) { $0 &+ Self.hash($1.name, $1.value) } ?? 0)
        }
    }

    private static func hash(_ name: PropertyName, _ value: JSON) -> Int {
        var hasher = Hasher()
        hasher.combine(name)
        hasher.combine(value)
        return hasher.finalize()
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self.init(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self.init(value) }
    /// A number.
    public init(floatLiteral value: Double) { self.init(value) }
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self.init(value) }
    /// An array.
    public init(arrayLiteral elements: JSON...) { self.init(elements) }
    /// An object; of a repeated name the last value counts.
    public init(dictionaryLiteral elements: (String, JSON)...) { self.init(members: elements) }
}

extension JSON {
    /// A name as a text.
    public init(_ name: PropertyName) { self.init(name.text) }

    /// An id as a record holds it: a text or an integer.
    public init(_ id: RecordID) {
        switch id {
        case .string(let text): self.init(text)
        case .integer(let number): self.init(number)
        }
    }

    /// The value as the id of a record, if it is a text.
    package var textID: RecordID? { string.map { .string($0) } }
}

extension JSON: CustomStringConvertible {
    /// The value as compact JSON text.
    public var description: String { String(decoding: bytes(), as: UTF8.self) }

    /// The value as compact JSON text in UTF-8.
    public func bytes() -> [UInt8] {
        var output: [UInt8] = []
        handle.print(to: &output)
        return output
    }
}

extension JSONHandle {
    fileprivate func print(to output: inout [UInt8]) {
        switch kind {
        case .null: output.append(contentsOf: "null".utf8)
        case .bool: output.append(contentsOf: (bool == true ? "true" : "false").utf8)
        case .number: output.append(contentsOf: (number?.description ?? "null").utf8)
        case .string: _ = withText { JSONEscape.append($0, to: &output) }
        case .array:
            output.append(UInt8(ascii: "["))
            for (index, element) in (elements ?? []).enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                element.print(to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object:
            output.append(UInt8(ascii: "{"))
            var first = true
            forEachMember { name, value in
                if !first { output.append(UInt8(ascii: ",")) }
                first = false
                JSONEscape.append(name, to: &output)
                output.append(UInt8(ascii: ":"))
                JSONHandle(sharing: value).print(to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }
}
