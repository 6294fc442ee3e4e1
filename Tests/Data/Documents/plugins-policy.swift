import CoreMetrics
import Sluice
import SluiceLua

struct RequestLog: Filter {
    func handle(_ request: Request, next: Next) async throws -> Response { try await next(request) }
}

var policy: String { "plugins.yaml" }
var kept: String { "last-good" }
var decisions: String { "decisions.jsonl" }
let secrets: [String: String] = [:]
var plugins: Plugins { fatalError() }
var factory: any MetricsFactory { fatalError() }
