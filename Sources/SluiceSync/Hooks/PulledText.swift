package import SluiceBase
internal import Synchronization

/// A page whose rows hooks look at: each becomes a record once, when a hook first asks for it whole.
package final class PulledText: Sendable {
    package let page: RowPage
    private let records = Mutex<[Int: JSON]>([:])

    package init(_ page: RowPage) { self.page = page }

    func record(at index: Int) -> JSON {
        if let record = records.withLock({ $0[index] }) { return record }
        let record = page.record(at: index)
        records.withLock { $0[index] = record }
        return record
    }
}
