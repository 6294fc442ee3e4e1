import CJansson
import CLuaSandbox
import Glibc

/// A JSON text as a value of jansson, released at the end.
final class Value {
    let pointer: UnsafeMutablePointer<json_t>

    init(_ text: String) {
        guard let value = json_loads(text, Int(JSON_DECODE_ANY | JSON_ALLOW_NUL), nil) else {
            fatalError("no JSON: \(text)")
        }
        pointer = value
    }

    /// A text.
    var string: String? { json_string_value(pointer).map { String(cString: $0) } }

    /// The elements of an array of texts.
    var texts: [String] {
        (0..<json_array_size(pointer)).map { index in
            json_string_value(json_array_get(pointer, index)).map { String(cString: $0) } ?? "?"
        }
    }

    deinit { sluice_json_release(pointer) }
}

/// The text of a JSON value that the sandbox gave, which is released; nil where there is none.
func text(of value: UnsafeMutableRawPointer?) -> String? {
    guard let value = value?.assumingMemoryBound(to: json_t.self) else { return nil }
    defer { sluice_json_release(value) }
    return text(borrowed: value)
}

func text(borrowed value: UnsafeRawPointer?) -> String? {
    guard let value = value?.assumingMemoryBound(to: json_t.self) else { return nil }
    guard let text = json_dumps(value, Int(JSON_ENCODE_ANY | JSON_COMPACT)) else { return nil }
    defer { free(text) }
    return String(cString: text)
}
