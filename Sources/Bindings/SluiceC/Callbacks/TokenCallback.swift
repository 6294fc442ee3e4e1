internal import CSluice
internal import SluiceCore
internal import Synchronization

/// Asks a callback for tokens, and keeps the last one. Only the callback follows its data pointer, so the type may be
/// unchecked `Sendable`.
final class TokenCallback: TokenProvider, @unchecked Sendable {
    private let callback: sluice_token_callback
    private let data: UnsafeMutableRawPointer?
    private let last = Mutex<String?>(nil)

    init(_ callback: sluice_token_callback, _ data: UnsafeMutableRawPointer?) {
        self.callback = callback
        self.data = data
    }

    func token() async throws -> String? {
        if let token = last.withLock({ $0 }) { return token }
        return try await ask(refused: nil)
    }

    func refresh(refused: String?) async throws -> String? { try await ask(refused: refused) }

    private func ask(refused: String?) async throws -> String? {
        let answer = await CallbackPlace.decision.onCaller { [self] in
            var text = sluice_text()
            let code =
                if let refused { refused.withCString { callback(data, $0, &text) } } else { callback(data, nil, &text) }
            let answer = CallbackAnswer.take(&text)
            return code == 0 ? answer : nil
        }
        guard let answer else { return nil }
        guard let token = String(validating: answer, as: UTF8.self) else {
            throw SluiceError(.invalidArgument, "the token callback's answer is not UTF-8")
        }
        last.withLock { $0 = token }
        return token
    }
}

/// A fixed token, used as long as a context is open.
struct GivenToken: TokenProvider {
    private let text: String

    init(_ text: String) { self.text = text }

    func token() async throws -> String? { text }

    func refresh(refused: String?) async throws -> String? { nil }
}
