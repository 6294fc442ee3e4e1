internal import CJansson

/// Values as C code sees them that does not show jansson's types.
extension JSONHandle {
    /// The value, alive as long as the handle is. Its receiver must not change it.
    package var raw: UnsafeRawPointer? { value.map { UnsafeRawPointer($0) } }

    /// Takes over a reference that C code has made.
    package convenience init(owningRaw raw: UnsafeMutableRawPointer?) {
        self.init(owning: raw?.assumingMemoryBound(to: json_t.self))
    }

    /// Adds a reference of its own to a value that C code owns.
    package convenience init(sharingRaw raw: UnsafeRawPointer?) {
        self.init(sharing: UnsafeMutableRawPointer(mutating: raw)?.assumingMemoryBound(to: json_t.self))
    }

    /// A reference for C code to release.
    package func retainedRaw() -> UnsafeMutableRawPointer? { retained().map { UnsafeMutableRawPointer($0) } }
}
