internal import CJansson
internal import SluiceCore

/// A hash of a document; equal documents have the same hash on every machine.
///
/// It reads the values in memory. Writing a document only to hash it costs more than most hook calls.
struct DocumentHash {
    /// The hash so far: a variant of FNV-1a (RFC 9923) that takes eight bytes at a time while there are as many.
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325
    private static let prime: UInt64 = 0x100_0000_01B3

    mutating func add(_ document: JSON) {
        let handle = document.handle
        withExtendedLifetime(handle) {
            add(UnsafeMutableRawPointer(mutating: handle.raw)?.assumingMemoryBound(to: json_t.self))
        }
    }

    // Each value begins with its type, and one of variable length with its length: so no two documents add the same
    // bytes.
    private mutating func add(_ json: UnsafeMutablePointer<json_t>?) {
        let type = json.map { sluice_json_type($0) } ?? Int32(JSON_NULL.rawValue)
        add(UInt64(UInt32(bitPattern: type)))
        switch json_type(rawValue: UInt32(bitPattern: type)) {
        case JSON_OBJECT:
            add(UInt64(json_object_size(json)))
            var member = json_object_iter(json)
            while let current = member {
                add(json_object_iter_key(current), json_object_iter_key_len(current))
                add(json_object_iter_value(current))
                member = json_object_iter_next(json, current)
            }
        case JSON_ARRAY:
            let count = json_array_size(json)
            add(UInt64(count))
            for index in 0..<count { add(json_array_get(json, index)) }
        case JSON_STRING: add(json_string_value(json), json_string_length(json))
        case JSON_INTEGER: add(UInt64(bitPattern: Int64(json_integer_value(json))))
        case JSON_REAL: add(json_real_value(json).bitPattern)
        default: break
        }
    }

    private mutating func add(_ text: UnsafePointer<CChar>?, _ count: Int) {
        add(UInt64(count))
        let bytes = UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : count)
        var place = 0
        while place + 8 <= bytes.count {
            add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
            place += 8
        }
        while place < bytes.count {
            add(UInt64(bytes[place]))
            place += 1
        }
    }

    // A multiplication carries bits upwards only: the shift brings the upper bits down.
    private mutating func add(_ word: UInt64) {
        value = (value ^ word) &* Self.prime
        value ^= value >> 32
    }
}
