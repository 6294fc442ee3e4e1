internal import CLuaSandbox
internal import SluiceCore

/// The row that a script looks at just now, as the sandbox reads it: a member where it stands in the page.
struct RowView {
    private let text: PulledText
    private let reader: RowReader
    private var index = 0
    /// What plugins before this one have set.
    private var members: JSON?

    private init(_ text: PulledText, _ reader: RowReader) {
        self.text = text
        self.reader = reader
    }

    /// Calls `body` with a view of the page's rows, and with what the sandbox reads it by.
    static func with(
        _ text: PulledText,
        _ body: (_ view: UnsafeMutablePointer<RowView>, _ reader: UnsafePointer<sluice_reader>) -> Void
    ) {
        text.page.withReader { reader in
            var view = RowView(text, reader)
            withUnsafeMutablePointer(to: &view) { view in
                let reader = sluice_reader(
                    context: view,
                    member: { context, name, count in
                        guard let view = context?.assumingMemoryBound(to: RowView.self), let name else { return nil }
                        return name.withMemoryRebound(to: UInt8.self, capacity: count) {
                            view.pointee.member(UnsafeBufferPointer(start: $0, count: count))
                        }
                    },
                    whole: { context in
                        context?.assumingMemoryBound(to: RowView.self).pointee.whole()
                    })
                withUnsafePointer(to: reader) { body(view, $0) }
            }
        }
    }

    /// Turns to a row; false for one that cannot be read so.
    mutating func turn(to row: PulledRow) -> Bool {
        guard let source = row.source, source.page === text else { return false }
        switch row.revision {
        case nil: members = nil
        case .members(let given): members = given
        case .record: return false
        }
        index = source.index
        return true
    }

    private func member(_ name: UnsafeBufferPointer<UInt8>) -> UnsafeMutableRawPointer? {
        if let members, let value = members[String(decoding: name, as: UTF8.self)] {
            return value.handle.retainedRaw()
        }
        return reader.rawMember(name, at: index)
    }

    /// A new record, which the script may write to.
    private func whole() -> UnsafeMutableRawPointer? {
        let record = text.page.record(at: index)
        return (members.map { record.setting($0) } ?? record).handle.retainedRaw()
    }
}
