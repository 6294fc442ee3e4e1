// The names are those of the header, which documents each function.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation

public import CSluice
internal import CSluiceCommit
internal import SluiceCore

@c @implementation
public func sluice_version() -> UInt32 {
    UInt32(SLUICE_VERSION_MAJOR << 16 | SLUICE_VERSION_MINOR << 8 | SLUICE_VERSION_PATCH)
}

@c @implementation
public func sluice_version_text() -> UnsafePointer<CChar>? { LibraryVersion.text }

@c @implementation
public func sluice_commit() -> UnsafePointer<CChar>? { csluice_commit() }

@c @implementation
public func sluice_code_name(_ code: Int32) -> UnsafePointer<CChar>? { Codes.text(of: code) }

@c @implementation
public func sluice_text_set(
    _ text: UnsafeMutablePointer<sluice_text>?, _ bytes: UnsafePointer<CChar>?, _ length: Int
) -> Int32 {
    do {
        guard let text else { throw Input.null("text") }
        let copy = try Input.bytes(bytes, length, "bytes")
        Reply.write(copy, to: text)
        return Int32(SLUICE_OK)
    } catch {
        return Failure(error).code
    }
}

@c @implementation
public func sluice_text_free(_ text: UnsafeMutablePointer<sluice_text>?) { Reply.free(text) }
