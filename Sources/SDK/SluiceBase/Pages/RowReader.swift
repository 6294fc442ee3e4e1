internal import CJansson

/// The unchanged rows of a page, read in place while the page's bytes stay where they are. It finds a member without
/// building its record, and counts no references.
package struct RowReader {
    private let rows: UnsafeBufferPointer<RowPage.Row>
    private let bytes: UnsafeBufferPointer<UInt8>
    private let tokens: UnsafeBufferPointer<JSONTape.Token>

    /// The value of a member.
    package enum Member {
        case null
        case bool(Bool)
        case int(Int64)
        case double(Double)
        /// A text without escapes, in place.
        case text(UnsafeBufferPointer<UInt8>)
        /// Any other value, by the index of its token.
        case other(Int)
    }

    fileprivate init(
        _ rows: UnsafeBufferPointer<RowPage.Row>, _ bytes: UnsafeBufferPointer<UInt8>,
        _ tokens: UnsafeBufferPointer<JSONTape.Token>
    ) {
        self.rows = rows
        self.bytes = bytes
        self.tokens = tokens
    }

    /// Returns the member of that name, in UTF-8, of the row at that index; nil if there is none.
    package func member(_ name: UnsafeBufferPointer<UInt8>, at index: Int) -> Member? {
        guard let place = find(name, at: index) else { return nil }
        let token = tokens[place]
        switch token.kind {
        case .null: return .null
        case .bool: return .bool(token.flag)
        case .number:
            switch JSON.Number(valid: source(token), hasFraction: token.flag).storage {
            case .int(let value): return .int(value)
            case .double(let value): return .double(value)
            case .text: return .other(place)
            }
        case .string where !token.flag: return .text(source(token))
        case .string, .key, .array, .object, .deep: return .other(place)
        }
    }

    /// Returns the value of ``Member/other(_:)``, for C code to own.
    package func raw(_ place: Int) -> UnsafeMutableRawPointer? {
        value(place).map { UnsafeMutableRawPointer($0) }
    }

    /// Returns the member as a value.
    func json(_ name: UnsafeBufferPointer<UInt8>, at index: Int) -> JSON? {
        find(name, at: index).map { JSON(JSONHandle(owning: value($0))) }
    }

    /// Returns whether the row has a member of that name that is certainly equal to C code's value. False means that it
    /// differs or that this cannot be decided here.
    package func has(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeRawPointer, at index: Int) -> Bool {
        let value = value.assumingMemoryBound(to: json_t.self)
        let type = json_type(rawValue: UInt32(sluice_json_type(value)))
        switch member(name, at: index) {
        case .null: return type == JSON_NULL
        case .bool(let bool): return type == (bool ? JSON_TRUE : JSON_FALSE)
        case .int(let int): return type == JSON_INTEGER && json_integer_value(value) == int
        case .double(let double): return type == JSON_REAL && json_real_value(value) == double
        case .text(let text):
            guard type == JSON_STRING, json_string_length(value) == text.count else { return false }
            return json_string_value(value).map { UnsafeRawPointer($0) }.map { other in
                JSONText.equal(
                    text, 0, UnsafeBufferPointer(start: other.assumingMemoryBound(to: UInt8.self), count: text.count))
            } ?? false
        case .other, nil: return false
        }
    }

    private func value(_ place: Int) -> UnsafeMutablePointer<json_t>? {
        var builder = JSONTreeBuilder(tokens: tokens, bytes: bytes, index: place)
        return builder.build()
    }

    private func source(_ token: JSONTape.Token) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[Int(token.start)..<Int(token.end)])
    }

    /// Returns the index of the member's value on the tape.
    private func find(_ name: UnsafeBufferPointer<UInt8>, at index: Int) -> Int? {
        let row = rows[index].token
        guard tokens[row].kind == .object else { return nil }
        let end = Int(tokens[row].next)
        var key = row + 1
        while key < end {
            let token = tokens[key]
            if token.flag {
                if JSONEscape.decode(source(token)).utf8.elementsEqual(name) { return key + 1 }
            } else if Int(token.end - token.start) == name.count, JSONText.equal(bytes, Int(token.start), name) {
                return key + 1
            }
            key = Int(token.next)
        }
        return nil
    }
}

extension RowPage {
    /// Calls `body` with a reader of the unchanged rows.
    package func withReader<Result>(_ body: (RowReader) throws -> Result) rethrows -> Result {
        try rows.withUnsafeBufferPointer { rows in
            try bytes.withUnsafeBufferPointer { bytes in
                try tape.tokens.withUnsafeBufferPointer { tokens in try body(RowReader(rows, bytes, tokens)) }
            }
        }
    }

    /// Returns the member of that name of an unchanged row; nil if there is none.
    package func member(_ name: PropertyName, at index: Int) -> JSON? {
        var name = name.text
        return name.withUTF8 { name in withReader { $0.json(name, at: index) } }
    }
}
