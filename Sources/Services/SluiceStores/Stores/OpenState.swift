internal import SluiceBase
internal import Synchronization

/// Whether a store is open.
final class OpenState: Sendable {
    private let isOpenNow = Mutex(false)
    private let name: String

    init(_ name: String) { self.name = name }

    var isOpen: Bool { isOpenNow.withLock { $0 } }

    func set(_ isOpen: Bool) { isOpenNow.withLock { $0 = isOpen } }

    /// - Throws: ``SluiceError`` of code `storeClosed`.
    func require() throws(SluiceError) {
        guard isOpen else { throw SluiceError(.storeClosed, "the \(name) store is not open; call open() first") }
    }
}
