internal import Dispatch
internal import Glibc

/// The kind of callback that a thread is in.
enum CallbackPlace: Int {
    case none = 0
    case transaction
    /// A conflict or a token callback.
    case decision
    case event

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The kind of callback that the calling thread is in.
    static var current: CallbackPlace {
        CallbackPlace(rawValue: Int(bitPattern: pthread_getspecific(key))) ?? .none
    }

    /// Calls a callback.
    func during<Result>(_ body: () throws -> Result) rethrows -> Result {
        let outer = Self.current
        pthread_setspecific(Self.key, UnsafeRawPointer(bitPattern: rawValue))
        defer { pthread_setspecific(Self.key, UnsafeRawPointer(bitPattern: outer.rawValue)) }
        return try body()
    }

    /// Calls a callback on the thread that waits for the task's call. A task that has outlived its call, such as the
    /// refresh of a token, uses a thread of the library.
    func onCaller<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            let call: @Sendable () -> Void = { continuation.resume(returning: self.during(body)) }
            guard CallerExecutor.current?.perform(call) != true else { return }
            Self.leftOvers.async(execute: call)
        }
    }

    private static let leftOvers = DispatchQueue(label: "sluice.callbacks")
}
