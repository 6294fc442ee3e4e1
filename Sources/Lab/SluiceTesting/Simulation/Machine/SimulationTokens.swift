internal import Synchronization

/// A user at a device: what a token is given to.
struct SimulatedAccount: Hashable, Sendable {
    let user: Int
    let device: Int

    /// The user's name. Two of them have the same letters, composed for the one and decomposed for the other.
    static func name(of user: Int) -> String { "\(user % 2 == 0 ? "ren\u{e9}e" : "rene\u{301}e") \(user / 2)" }

    /// The user of that name; nil for nobody's.
    static func user(named name: String) -> Int? {
        let number = name.split(separator: " ").last.flatMap { Int($0) }
        return number.map { 2 * $0 + (name.unicodeScalars.contains("\u{301}") ? 1 : 0) }
    }
}

/// The tokens by which the server knows who asks: each account has one at a time that is good.
final class SimulationTokens: Sendable {
    /// What every token begins with, so that one is known where none should be.
    static let mark = "secret-"

    private let generations = Mutex<[SimulatedAccount: Int]>([:])

    /// The account's good token.
    func current(_ account: SimulatedAccount) -> String {
        "\(Self.mark)\(account.user).\(account.device).\(generations.withLock { $0[account] ?? 0 })"
    }

    /// The account's token is good no more.
    func expire(_ account: SimulatedAccount) { generations.withLock { $0[account, default: 0] += 1 } }

    /// Whose token it is; nil for one that is not good.
    func user(of token: String) -> Int? {
        guard token.hasPrefix(Self.mark) else { return nil }
        let parts = token.dropFirst(Self.mark.count).split(separator: ".").compactMap { Int($0) }
        guard parts.count == 3 else { return nil }
        return current(SimulatedAccount(user: parts[0], device: parts[1])) == token ? parts[0] : nil
    }
}
