internal import SluiceBase

/// The rows of a page, separated into storable and unfit ones.
struct PageRows {
    /// A row that cannot be stored.
    struct Unfit {
        var index: Int
        var reason: String

        /// Whether the row has an id of its own.
        func hasID(in page: RowPage) -> Bool { page.rows[index].id.text.utf8.first != 0 }
    }

    /// The rows to store, each id once.
    private(set) var fit: [Int] = []
    private(set) var unfit: [Unfit] = []

    /// Sorts the rows of a selection.
    ///
    /// If an id comes twice, the later row counts. If two rows with the same id and version differ, neither is stored,
    /// unless a row of that id with another version follows.
    init(_ page: RowPage, _ rows: [Int]) {
        var last: [RecordID: Int] = [:]
        last.reserveCapacity(rows.count)
        var disputed: Set<RecordID> = []
        for index in rows {
            let row = page.rows[index]
            if row.isUnfit {
                unfit.append(Unfit(index: index, reason: page.problems[index] ?? "the row cannot be read"))
                continue
            }
            let id = row.id
            guard let other = last.updateValue(index, forKey: id) else { continue }
            if page.rows[other].version != row.version {
                disputed.remove(id)
            } else if page.record(at: other) != page.record(at: index) {
                disputed.insert(id)
            }
        }
        if unfit.isEmpty, disputed.isEmpty, last.count == rows.count {
            fit = rows
            return
        }
        for index in rows where !page.rows[index].isUnfit {
            let id = page.rows[index].id
            guard last[id] == index else { continue }
            if disputed.contains(id) {
                unfit.append(Unfit(index: index, reason: "the page has two rows of this id and version that differ"))
            } else {
                fit.append(index)
            }
        }
    }
}
