internal import CSluice
internal import Dispatch
internal import Glibc
internal import SluiceCore

/// Asks a callback about conflicts. Only the callback follows its data pointer, so the type may be unchecked
/// `Sendable`.
struct ConflictCallback: ConflictHandler, @unchecked Sendable {
    let callback: sluice_conflict_callback
    let data: UnsafeMutableRawPointer?

    func decide(_ conflict: Conflict) async throws -> ConflictDecision {
        let document = conflict.json.bytes() + [0]
        let (number, answer) = await CallbackPlace.decision.onCaller { [self] in
            var text = sluice_text()
            let number = document.withUnsafeBytes { bytes in
                callback(data, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), document.count - 1, &text)
            }
            return (Int(number), CallbackAnswer.take(&text))
        }
        return try ConflictDecision(number, answer)
    }
}

extension ConflictDecision {
    /// Reads the decision from its number, with the record of a merge.
    ///
    /// - Throws: ``SluiceError``, whose text the queue keeps as the reason for holding the operation.
    init(_ number: Int, _ answer: [UInt8]?) throws(SluiceError) {
        let simple: [Int: ConflictDecision] = [
            SLUICE_DECIDE_NEXT: .next, SLUICE_DECIDE_SERVER: .server, SLUICE_DECIDE_CLIENT: .client,
            SLUICE_DECIDE_DELETE: .delete, SLUICE_DECIDE_DISCARD: .discard, SLUICE_DECIDE_DEFER: .defer,
            SLUICE_DECIDE_ASK: .ask, SLUICE_DECIDE_ABORT: .abort,
        ]
        if let decision = simple[number] {
            self = decision
            return
        }
        guard number == SLUICE_DECIDE_MERGE else {
            throw SluiceError(
                .filter,
                answer.flatMap { String(validating: $0, as: UTF8.self) } ?? "the conflict callback returned \(number)")
        }
        guard let answer else { throw SluiceError(.filter, "a merge takes a record, and there is none") }
        do throws(JSON.ParseError) {
            self = .merge(try JSON(parsing: answer))
        } catch {
            throw SluiceError(.filter, "the record of the merge is not JSON: \(error)")
        }
    }
}

/// Reads a callback's answer.
enum CallbackAnswer {
    /// Returns the bytes, and frees the callback's copy; nil if the callback wrote none.
    static func take(_ text: inout sluice_text) -> [UInt8]? {
        defer { Reply.free(&text) }
        guard let bytes = text.bytes else { return nil }
        return Array(UnsafeRawBufferPointer(start: bytes, count: max(0, text.length)))
    }
}

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
