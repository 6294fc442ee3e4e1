internal import Synchronization

/// The right to synchronise a store: one holder at a time, among all that have the store open.
///
/// It ends when it is released, when the value is gone, and, where a store is shared by processes, when the process
/// ends, however that happens.
public final class StoreLease: Sendable {
    private let giveBack: Mutex<(@Sendable () -> Void)?>

    /// A lease that ends by `giveBack`, which is called once.
    public init(giveBack: @escaping @Sendable () -> Void) { self.giveBack = Mutex(giveBack) }

    deinit { release() }

    /// Ends it. Doing so twice is allowed.
    public func release() {
        let giveBack = giveBack.withLock { held in
            defer { held = nil }
            return held
        }
        giveBack?()
    }
}
