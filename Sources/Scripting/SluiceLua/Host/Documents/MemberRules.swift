internal import CJansson
internal import SluiceCore

/// Accepts the members that a script set in a row by a quick look, which is enough for most. ``RecordCheck`` decides
/// about the others, and would accept these too.
struct MemberRules {
    /// The result for a row's members.
    enum Finding {
        /// The row has the same values already.
        case same
        /// The members may be set in the row.
        case changed
        /// ``RecordCheck`` has to decide.
        case unclear
    }

    private struct Rule {
        var name: [UInt8]
        var isSystem: Bool
        var type: TableSchema.ColumnType?
    }

    private let check: RecordCheck
    /// The rules for the members set so far. Scripts set few.
    private var rules: [Rule] = []
    private static let mostRules = 32

    init(_ check: RecordCheck) { self.check = check }

    /// Checks members that are held by C code.
    mutating func find(_ members: UnsafeRawPointer, _ view: RowView) -> Finding {
        guard view.members == nil else { return .unclear }
        let object = UnsafeMutableRawPointer(mutating: members).assumingMemoryBound(to: json_t.self)
        var finding = Finding.same
        var member = json_object_iter(object)
        while let current = member {
            member = json_object_iter_next(object, current)
            guard let key = json_object_iter_key(current), let value = json_object_iter_value(current) else {
                return .unclear
            }
            let name = UnsafeBufferPointer(
                start: UnsafeRawPointer(key).assumingMemoryBound(to: UInt8.self),
                count: json_object_iter_key_len(current))
            if view.reader.has(name, value, at: view.index) { continue }
            guard isPlain(value, name) else { return .unclear }
            finding = .changed
        }
        return finding
    }

    private mutating func isPlain(_ value: UnsafeMutablePointer<json_t>, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard check.mayWrite, let place = place(of: name), !rules[place].isSystem else { return false }
        let type = rules[place].type
        switch json_type(rawValue: UInt32(sluice_json_type(value))) {
        case JSON_NULL: return true
        case JSON_TRUE, JSON_FALSE: return type == nil || type == .boolean
        case JSON_INTEGER: return type == nil || type == .integer || type == .real
        // A larger float may be the remainder of a different whole number.
        case JSON_REAL: return (type == nil || type == .real) && json_real_value(value).magnitude < 0x1p53
        case JSON_STRING:
            guard type == nil || type == .string, let first = json_string_value(value)?.pointee else { return false }
            // The text may be a long number.
            return first != CChar(bitPattern: UInt8(ascii: "-")) && !(48...57).contains(first)
        default: return false
        }
    }

    private mutating func place(of name: UnsafeBufferPointer<UInt8>) -> Int? {
        for index in rules.indices where rules[index].name.count == name.count {
            if rules[index].name.elementsEqual(name) { return index }
        }
        guard rules.count < Self.mostRules else { return nil }
        let text = PropertyName(String(decoding: name, as: UTF8.self))
        rules.append(
            Rule(name: Array(name), isSystem: check.isSystem(text), type: check.schema?.column(text)?.type))
        return rules.count - 1
    }
}
