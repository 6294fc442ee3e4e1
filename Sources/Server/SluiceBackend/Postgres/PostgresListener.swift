internal import Foundation
internal import SluiceCore
internal import SluicePostgres
internal import Synchronization

/// Hears of the commits of all processes: on a connection of its own that listens, or by looking every second where a
/// pooler stands between.
final class PostgresListener: Sendable {
    /// What commits are told on.
    static let channel = "sluice_commits"
    /// How long it waits before it connects anew, or looks.
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
                // Something may have been committed while nobody listened.
                return action()
            }
            if try listening.waitForNotification(Self.pause) { action() }
        } catch {
            connection = nil
            Thread.sleep(forTimeInterval: Self.pause / .seconds(1))
        }
    }
}
