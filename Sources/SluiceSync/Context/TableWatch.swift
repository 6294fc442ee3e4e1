/// Tells who has read tables of a context's store when something was committed that can concern them.
package struct TableWatch: Sendable {
    private let changes: Mailbox<ChangeBacklog>
    private let subscription: Subscription

    /// Notes everything that is committed from now on.
    package init(_ context: SyncContext) {
        (changes, subscription) = context.hub.tables.subscribe(into: ChangeBacklog())
    }

    /// Waits for a commit that can concern one of the tables. Several that came while nobody waited count as one.
    ///
    /// - Returns: false once the task is cancelled.
    package func next(concerning tables: Set<String>) async -> Bool {
        while let batch = await changes.next() {
            var isDue = tables.contains(where: batch.concerns)
            while let further = changes.poll() { isDue = isDue || tables.contains(where: further.concerns) }
            if isDue { return true }
        }
        return false
    }
}
