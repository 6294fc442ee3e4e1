internal import Foundation

/// The inode, size and time of a file, which change when it is written or replaced. Links are followed.
struct FileState: Equatable, CustomStringConvertible {
    private let number: UInt64
    let size: UInt64
    private let changed: Date

    /// - Returns: nil if there is no such file.
    init?(_ path: String) {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let facts = try? FileManager.default.attributesOfItem(atPath: target),
            let changed = facts[.modificationDate] as? Date
        else { return nil }
        number = (facts[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
        size = (facts[.size] as? NSNumber)?.uint64Value ?? 0
        self.changed = changed
    }

    var description: String { "\(number) \(size) \(changed.timeIntervalSinceReferenceDate)" }
}
