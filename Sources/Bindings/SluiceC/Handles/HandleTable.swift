internal import CSluice
internal import Synchronization

/// Issues numbers for objects. No number is issued twice, so a released one never finds another object.
final class HandleTable<Object: Sendable>: Sendable {
    private struct State {
        var last: UInt64 = 0
        var objects: [UInt64: Object] = [:]
    }
    private let state = Mutex(State())
    /// The kind of the objects. Numbers of different kinds never meet.
    private let kind: Kind

    /// The kinds of handles.
    enum Kind: UInt64 {
        case context = 1
        case transaction, subscription
    }

    init(_ kind: Kind) { self.kind = kind }

    /// Issues a number for the object.
    func add(_ object: Object) -> UInt64 {
        state.withLock { state in
            state.last += 1
            // A number fits in an exact double, for languages that have no other numbers: 2^51 handles are enough.
            let handle = state.last << 2 | kind.rawValue
            state.objects[handle] = object
            return handle
        }
    }

    /// Returns the object of that number.
    func find(_ handle: UInt64) throws(Failure) -> Object {
        guard let object = state.withLock({ $0.objects[handle] }) else { throw .handle(kind) }
        return object
    }

    /// Releases the number, and returns its object.
    func remove(_ handle: UInt64) throws(Failure) -> Object {
        guard let object = state.withLock({ $0.objects.removeValue(forKey: handle) }) else { throw .handle(kind) }
        return object
    }
}

extension Failure {
    static func handle<Object>(_ kind: HandleTable<Object>.Kind) -> Failure {
        Failure(SLUICE_ERROR_HANDLE, "there is no such \(kind): it was closed, or is no handle of one")
    }
}
