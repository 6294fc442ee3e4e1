internal import SluiceBase

/// The pass for the rows without a time, after the others.
extension IncrementalPullSession {
    /// Begins the pass for rows without a time.
    mutating func beginUntimed() -> PullEffect {
        var sorts: Bool?
        if case .proven = keyset { sorts = true }
        untimedPass = NullTimePass(pageSize: pageSize, sorts: sorts)
        return followUntimed(.began)
    }

    /// Handles a failure of the pass. If no such rows are known, a server may not understand the condition: it refuses
    /// it, or fails at it twice. One failure may have any reason.
    mutating func takeUntimed(_ error: SluiceError) -> PullEffect {
        guard !hasUntimed else { return followUntimed(.failed(error)) }
        if error.mayRefuseQuestion { return endUntimed() }
        guard error.status == 500 else { return followUntimed(.failed(error)) }
        if failedUntimed { return endUntimed() }
        failedUntimed = true
        return beginUntimed()
    }

    /// Passes an event to the pass for rows without a time.
    mutating func followUntimed(_ event: PullEvent) -> PullEffect {
        guard let effect = untimedPass?.handle(event) else { return finish(nil) }
        switch effect {
        case .request, .ask:
            state = .waiting
            return effect
        case .finish(nil): return endUntimed()
        case .finish(let error): return finish(error)
        case .commit(let rows, _):
            let page = untimedPage
            let fresh = rows.filter { !untimed.contains(page.rows[$0]) }
            remember(untimedOf: page)
            if fresh.isEmpty { return followUntimed(.committed) }
            position?.hasUntimed = hasUntimed
            return commit(fresh)
        }
    }

    /// Ends the pull after all rows without a time were read.
    mutating func endUntimed() -> PullEffect {
        untimedPass = nil
        isOver = true
        return finish(nil)
    }

    mutating func remember(untimedOf page: PullPage) {
        for row in page.rows where row.updatedAt == nil {
            hasUntimed = true
            untimed.insert(row)
        }
    }
}

/// The part of a named pull that reads the rows whose time of change is null, as a full pull reads all rows.
///
/// Servers return such rows first, last, or not at all when filtering by time, so they cannot be reached by time. The
/// pass also takes rows that a server sends despite the condition.
struct NullTimePass: Sendable {
    private var session: FullPullSession

    /// - Parameter sorts: whether the server follows the requested order; nil if unknown.
    init(pageSize: Int, sorts: Bool?) {
        session = FullPullSession(query: TableQuery(""), pageSize: pageSize, sorts: sorts)
    }

    /// Handles an event and returns the next effect.
    mutating func handle(_ event: PullEvent) -> PullEffect {
        let effect = session.handle(event)
        guard case .request(var request) = effect else { return effect }
        switch request.position {
        case .behindID(let id): request.position = .withoutTime(behindID: id)
        case .upToID(let id): request.position = .withoutTimeUpToID(id)
        default: request.position = .withoutTime(behindID: nil)
        }
        return .request(request)
    }
}
