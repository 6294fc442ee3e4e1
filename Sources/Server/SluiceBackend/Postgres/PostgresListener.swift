internal import Foundation
internal import SluiceCore
internal import SluicePostgres
internal import Synchronization

/// Notices the commits of all processes: by `LISTEN` on its own connection, or by a check every second behind a pooler.
final class PostgresListener: Sendable {
    /// The channel of notifications about commits.
    static let channel = "sluice_commits"
    /// The pause before a reconnect, or between two checks.
    private static let pause = Duration.seconds(1)

    private let address: PostgresAddress
    private let isStopped = Atomic<Bool>(false)

    init(_ address: PostgresAddress) { self.address = address }

    func start(_ action: @escaping @Sendable () -> Void) {
        let thread = Thread { [weak self] in
            var connection: PostgresConnection?
            while let self, !self.isStopped.load(ordering: .relaxed) { self.listen(&connection, action) }
        }
        thread.name = "sluice.listener"
        thread.start()
    }

    func stop() { isStopped.store(true, ordering: .relaxed) }

    private func listen(_ connection: inout PostgresConnection?, _ action: @Sendable () -> Void) {
        guard !address.isPooled else {
            Thread.sleep(forTimeInterval: Self.pause / .seconds(1))
            return action()
        }
        do {
            guard let listening = connection else {
                let new = try PostgresConnection(address)
                try new.execute("LISTEN \(Self.channel)")
                connection = new
                // There may have been commits while no connection was listening.
                return action()
            }
            if try listening.waitForNotification(Self.pause) { action() }
        } catch {
            connection = nil
            Thread.sleep(forTimeInterval: Self.pause / .seconds(1))
        }
    }
}
