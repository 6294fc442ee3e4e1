internal import CJansson
internal import HTTPTypes
internal import SluiceCore

/// Writes an object straight into jansson's memory. Each request and each answer needs one. A ``JSON`` for each of its
/// members would cost more than the script that reads it.
struct DocumentWriter: ~Copyable {
    private let object = json_object()

    deinit { if let object { sluice_json_release(object) } }

    func set(_ name: StaticString, _ text: String) { set(name, Self.value(text)) }
    func set(_ name: StaticString, _ number: Int) { set(name, json_integer(json_int_t(number))) }
    func set(_ name: StaticString, _ number: Double) { set(name, json_real(number)) }
    func set(_ name: StaticString, _ value: JSON) { set(name, Self.value(value)) }

    /// Writes header fields as `[[name, value]]`, in order.
    func set(_ name: StaticString, _ fields: some Sequence<HTTPField>) {
        let list = json_array()
        for field in fields {
            let pair = json_array()
            json_array_append_new(pair, Self.value(field.name.rawName))
            json_array_append_new(pair, Self.value(field.value))
            json_array_append_new(list, pair)
        }
        set(name, list)
    }

    consuming func finish() -> JSON {
        let object = object
        discard self
        return JSON(JSONHandle(owningRaw: object))
    }

    private func set(_ name: StaticString, _ value: UnsafeMutablePointer<json_t>?) {
        json_object_setn_new_nocheck(object, name.characters, name.utf8CodeUnitCount, value)
    }

    private static func value(_ text: String) -> UnsafeMutablePointer<json_t>? {
        var text = text
        return text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                json_stringn_nocheck($0.baseAddress ?? sluice_json_nul(), $0.count)
            }
        }
    }

    private static func value(_ json: JSON) -> UnsafeMutablePointer<json_t>? {
        json.handle.retainedRaw()?.assumingMemoryBound(to: json_t.self)
    }
}

extension StaticString {
    /// The characters as a pointer for jansson's names.
    var characters: UnsafePointer<CChar> {
        UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
