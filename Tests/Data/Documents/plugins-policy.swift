import CoreMetrics
import Sluice
import SluiceLua

struct RequestLog: RequestFilter {
    func handle(_ request: SyncRequest, next: RequestFilter.Next) async throws -> SyncResponse {
        try await next(request)
    }
}

var policy: String { "plugins.yaml" }
var kept: String { "last-good" }
var decisions: String { "decisions.jsonl" }
let secrets: [String: String] = [:]
var plugins: Plugins { fatalError() }
var factory: any MetricsFactory { fatalError() }
