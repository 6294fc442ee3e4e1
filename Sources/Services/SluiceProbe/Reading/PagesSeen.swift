internal import SluiceBase
internal import SluiceWire

/// The pages of a list, as a client walks them, and the answer to a request for many rows.
struct PagesSeen: ProbeObservation {
    /// The pages of two walks.
    var walks: [[ProbePage]]
    var large: ProbeSession.Answer<ProbePage>
    /// The number of rows of the large request.
    static let largest = 1000

    var findings: [ProbeFinding] {
        var found: [ProbeFinding] = []
        let overlaps = walks.map(Self.overlap)
        if !overlaps.isEmpty, overlaps.allSatisfy({ !$0.isEmpty }) {
            found.append(ProbeFinding(.pagesOverlap, "two pages of one list have \(RowsSeen.names(overlaps[0]))"))
        }
        if case .failure(let error) = large {
            let isRefused = [.rejected, .tooLarge].contains(error.code)
            found.append(
                ProbeFinding(isRefused ? .pagesLimited : .pagesFail, "$top=\(Self.largest): \(error.message)"))
        }
        return found
    }

    private static func overlap(_ pages: [ProbePage]) -> [RecordID] {
        var known: Set<RecordID> = []
        var twice: [RecordID] = []
        for page in pages {
            twice += page.ids.filter(known.contains)
            known.formUnion(page.ids)
        }
        return twice
    }

    var facts: [(subject: String, text: String)] {
        guard let pages = walks.first, pages.count > 1, let first = pages.first else { return [] }
        return [("pages", "a page has at most \(first.rows.count.counted("row"))")]
    }
}

extension ProbeSession {
    /// The number of pages of a walk.
    private static let pages = 3

    /// Walks through the first pages, and asks for many rows at once.
    func pages(_ report: inout ProbeReport) async throws {
        let first = try await walk()
        let isDoubtful = PagesSeen(walks: [first], large: .success(ProbePage(rows: []))).findings.isEmpty
        let walks = isDoubtful ? [first] : [first, try await walk()]
        let seen = PagesSeen(walks: walks, large: try await list { $0.top = PagesSeen.largest })
        if case .failure = seen.large { report.proposal.pageSize = ProbePage.wanted }
        report.add(seen)
    }

    private func walk() async throws -> [ProbePage] {
        guard case .success(var page) = try await list({ $0.top = nil }) else { return [] }
        var pages = [page]
        while pages.count < Self.pages, let next = page.next, case .success(let following) = try await self.page(next) {
            page = following
            pages.append(page)
        }
        return pages
    }
}
