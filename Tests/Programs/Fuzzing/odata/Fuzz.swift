import SluiceTestSupport

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.odata.mustHold(for: UnsafeBufferPointer(start: bytes, count: count))
    return 0
}
