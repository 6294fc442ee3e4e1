internal import CJansson

/// The owner of one reference to a jansson value.
///
/// Jansson counts references atomically. Sluice changes a value only if this handle is the only owner of its only
/// reference, which ``JSON`` ensures. All other values are read-only, so threads may share them, and the class may be
/// `Sendable` unchecked.
package final class JSONHandle: @unchecked Sendable {
    let value: UnsafeMutablePointer<json_t>?

    /// Takes over a reference. Nil, which jansson returns when memory is out, reads as `null`.
    init(owning value: UnsafeMutablePointer<json_t>?) { self.value = value }

    /// Adds a reference of its own to another owner's value.
    convenience init(sharing value: UnsafeMutablePointer<json_t>?) {
        self.init(owning: value.flatMap(sluice_json_retain))
    }

    convenience init(string: String) {
        var string = string
        self.init(
            owning: string.withUTF8 { text in
                text.withMemoryRebound(to: CChar.self) {
                    json_stringn_nocheck($0.baseAddress ?? sluice_json_nul(), $0.count)
                }
            })
    }

    convenience init(number: JSON.Number) { self.init(owning: Self.value(of: number)) }

    /// Returns a number as a new value, for a container to own.
    static func value(of number: JSON.Number) -> UnsafeMutablePointer<json_t>? {
        switch number.storage {
        case .int(let int): return json_integer(int)
        case .double(let double): return json_real(double)
        case .text(let text):
            let value = json_object()
            json_object_setn_new_nocheck(value, numberMark, 1, JSONHandle(string: text).retained())
            return value
        }
    }

    /// Returns the value with one more reference, for a container to own. It is a method, so that the handle lives
    /// until it returns: the bare pointer of an otherwise unused handle could outlive the value.
    func retained() -> UnsafeMutablePointer<json_t>? { value.flatMap(sluice_json_retain) }

    deinit { if let value { sluice_json_release(value) } }

    /// The mark of a number without a jansson type: an object with one member, which has a NUL as its name and the
    /// number's text as its value. No text can forge it, because the reader refuses a member name with a NUL.
    private static var numberMark: UnsafePointer<CChar>? { sluice_json_nul() }

    /// Whether other owners may see a change of the value.
    var isShared: Bool { value.map { sluice_json_references($0) != 1 } ?? true }

    func isIdentical(_ other: JSONHandle) -> Bool { value == other.value }

    private var type: Int32 { value.map { sluice_json_type($0) } ?? Int32(JSON_NULL.rawValue) }
    private func isType(_ type: json_type) -> Bool { self.type == Int32(type.rawValue) }

    /// The text of a number that is stored as text.
    private var numberText: String? {
        guard isType(JSON_OBJECT), json_object_size(value) == 1,
            let text = json_object_getn(value, Self.numberMark, 1)
        else { return nil }
        return JSONHandle(sharing: text).string
    }

    var kind: JSON.Kind {
        switch type {
        case Int32(JSON_OBJECT.rawValue): numberText == nil ? .object : .number
        case Int32(JSON_ARRAY.rawValue): .array
        case Int32(JSON_STRING.rawValue): .string
        case Int32(JSON_INTEGER.rawValue), Int32(JSON_REAL.rawValue): .number
        case Int32(JSON_TRUE.rawValue), Int32(JSON_FALSE.rawValue): .bool
        default: .null
        }
    }

    var bool: Bool? { isType(JSON_TRUE) ? true : isType(JSON_FALSE) ? false : nil }

    var number: JSON.Number? {
        switch type {
        case Int32(JSON_INTEGER.rawValue): JSON.Number(Int64(json_integer_value(value)))
        case Int32(JSON_REAL.rawValue): JSON.Number(json_real_value(value))
        case Int32(JSON_OBJECT.rawValue): numberText.flatMap { JSON.Number(text: $0) }
        default: nil
        }
    }

    var string: String? {
        withText { String(decoding: $0, as: UTF8.self) }
    }

    /// Calls `body` with the bytes of a string; returns nil for any other value.
    func withText<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result? {
        guard isType(JSON_STRING), let text = json_string_value(value) else { return nil }
        let count = json_string_length(value)
        return text.withMemoryRebound(to: UInt8.self, capacity: count) {
            body(UnsafeBufferPointer(start: $0, count: count))
        }
    }

    /// Whether both are strings of the same bytes.
    func hasSameText(as other: JSONHandle) -> Bool {
        withText { text in
            other.withText { $0.count == text.count && JSONText.equal(text, 0, $0) } ?? false
        } ?? false
    }

    var count: Int {
        switch kind {
        case .object: Int(json_object_size(value))
        case .array: Int(json_array_size(value))
        default: 0
        }
    }

    var elements: [JSONHandle]? {
        guard isType(JSON_ARRAY) else { return nil }
        return (0..<json_array_size(value)).map { JSONHandle(sharing: json_array_get(value, $0)) }
    }

    func element(_ index: Int) -> JSONHandle? {
        guard index >= 0, isType(JSON_ARRAY), let element = json_array_get(value, index) else { return nil }
        return JSONHandle(sharing: element)
    }

    var members: [(name: String, value: JSONHandle)]? {
        guard kind == .object else { return nil }
        var members: [(name: String, value: JSONHandle)] = []
        members.reserveCapacity(Int(json_object_size(value)))
        forEachMember { members.append((String(decoding: $0, as: UTF8.self), JSONHandle(sharing: $1))) }
        return members
    }

    var names: [String] {
        guard kind == .object else { return [] }
        var names: [String] = []
        forEachMember { name, _ in names.append(String(decoding: name, as: UTF8.self)) }
        return names
    }

    func forEachMember(_ body: (UnsafeBufferPointer<UInt8>, UnsafeMutablePointer<json_t>?) throws -> Void) rethrows {
        var member = json_object_iter(value)
        while let current = member {
            let count = json_object_iter_key_len(current)
            try json_object_iter_key(current)?.withMemoryRebound(to: UInt8.self, capacity: count) {
                try body(UnsafeBufferPointer(start: $0, count: count), json_object_iter_value(current))
            }
            member = json_object_iter_next(value, current)
        }
    }

    /// Whether a value may hold others.
    static func isContainer(_ value: UnsafeMutablePointer<json_t>?) -> Bool {
        guard let value else { return false }
        let type = sluice_json_type(value)
        return type == Int32(JSON_OBJECT.rawValue) || type == Int32(JSON_ARRAY.rawValue)
    }

    func member(_ name: String) -> JSONHandle? {
        guard isType(JSON_OBJECT) else { return nil }
        var name = name
        let found = name.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) {
                json_object_getn(value, $0.baseAddress ?? sluice_json_nul(), $0.count)
            }
        }
        guard let found, kind == .object else { return nil }
        return JSONHandle(sharing: found)
    }

    /// Sets or removes a member. A name with a NUL is ignored, because the reader refuses it.
    func setMember(_ name: String, _ member: JSONHandle?) {
        var name = name
        name.withUTF8 { text in
            guard !text.contains(0) else { return }
            text.withMemoryRebound(to: CChar.self) { text in
                let start = text.baseAddress ?? sluice_json_nul()
                if let member {
                    json_object_setn_new_nocheck(value, start, text.count, member.retained() ?? json_null())
                } else {
                    json_object_deln(value, start, text.count)
                }
            }
        }
    }

    func append(_ element: JSONHandle) {
        json_array_append_new(value, element.retained() ?? json_null())
    }

    func shallowCopy() -> JSONHandle { JSONHandle(owning: json_copy(value)) }
}

/// Values for C code that does not know jansson's types.
extension JSONHandle {
    /// The value, valid as long as the handle. Its receiver must not change it.
    package var raw: UnsafeRawPointer? { value.map { UnsafeRawPointer($0) } }

    /// Takes over a reference that C code has created.
    package convenience init(owningRaw raw: UnsafeMutableRawPointer?) {
        self.init(owning: raw?.assumingMemoryBound(to: json_t.self))
    }

    /// Adds a reference of its own to C code's value.
    package convenience init(sharingRaw raw: UnsafeRawPointer?) {
        self.init(sharing: UnsafeMutableRawPointer(mutating: raw)?.assumingMemoryBound(to: json_t.self))
    }

    /// Returns a reference for C code to release.
    package func retainedRaw() -> UnsafeMutableRawPointer? { retained().map { UnsafeMutableRawPointer($0) } }
}
