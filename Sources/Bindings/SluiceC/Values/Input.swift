internal import CSluice
internal import Glibc
internal import SluiceCore

/// Reads callers' arguments: each is checked before it is used.
enum Input {
    /// The longest name, id or path, in bytes.
    private static let longestName = 4_095
    /// The longest document, in bytes.
    private static let longestDocument = 64 << 20

    /// Reads a name, an id or a path.
    static func name(_ text: UnsafePointer<CChar>?, _ what: String) throws(Failure) -> String {
        guard let name = try optionalName(text, what) else { throw null(what) }
        return name
    }

    /// Reads a name that may be omitted.
    static func optionalName(_ text: UnsafePointer<CChar>?, _ what: String) throws(Failure) -> String? {
        guard let text else { return nil }
        let length = strnlen(text, longestName + 1)
        guard length <= longestName else { throw tooLong(what, longestName) }
        return try string(UnsafeRawBufferPointer(start: text, count: length), what)
    }

    /// Reads a document of any bytes.
    static func bytes(_ bytes: UnsafePointer<CChar>?, _ length: Int, _ what: String) throws(Failure) -> [UInt8] {
        guard let buffer = try document(bytes, length, what) else { throw null(what) }
        return Array(buffer)
    }

    /// Reads a document that is text.
    static func text(_ bytes: UnsafePointer<CChar>?, _ length: Int, _ what: String) throws(Failure) -> String {
        guard let buffer = try document(bytes, length, what) else { throw null(what) }
        return try string(buffer, what)
    }

    /// Reads a document that is JSON.
    static func json(_ bytes: UnsafePointer<CChar>?, _ length: Int, _ what: String) throws(Failure) -> JSON {
        guard let json = try optionalJSON(bytes, length, what) else { throw null(what) }
        return json
    }

    /// Reads a document that is JSON, and may be omitted.
    static func optionalJSON(
        _ bytes: UnsafePointer<CChar>?, _ length: Int, _ what: String
    ) throws(Failure) -> JSON? {
        guard let buffer = try document(bytes, length, what) else { return nil }
        do throws(JSON.ParseError) {
            return try JSON(parsing: buffer)
        } catch {
            // Bytes that are no valid text get another error than a text that is not JSON.
            _ = try string(buffer, what)
            throw Failure(SLUICE_ERROR_JSON, "the \(what) is not JSON: \(error)")
        }
    }

    /// Returns the bytes of a document: valid as long as the caller's.
    private static func document(
        _ bytes: UnsafePointer<CChar>?, _ length: Int, _ what: String
    ) throws(Failure) -> UnsafeRawBufferPointer? {
        guard let bytes else { return nil }
        // SLUICE_TERMINATED is the largest size_t, which is -1 here.
        let count = length == -1 ? strnlen(bytes, longestDocument + 1) : length
        guard (0...longestDocument).contains(count) else { throw tooLong(what, longestDocument) }
        return UnsafeRawBufferPointer(start: bytes, count: count)
    }

    private static func string(_ buffer: UnsafeRawBufferPointer, _ what: String) throws(Failure) -> String {
        guard let text = String(validating: buffer, as: UTF8.self) else {
            throw Failure(SLUICE_ERROR_UTF8, "the \(what) is not UTF-8")
        }
        return text
    }

    /// Returns the failure for a pointer that is NULL.
    static func null(_ what: String) -> Failure { Failure(SLUICE_ERROR_NULL, "the \(what) is NULL") }

    private static func tooLong(_ what: String, _ most: Int) -> Failure {
        Failure(SLUICE_ERROR_TOO_LARGE, "the \(what) is longer than \(most) bytes")
    }
}
