internal import HTTPTypes
internal import Sluice
internal import SluiceBackend

/// The routes of the control socket: HTTP with JSON, so that `curl --unix-socket` works too.
struct ControlRoutes: Sendable {
    private static let names = [
        "status", "metrics", "explain", "sync", "reload", "pause", "resume", "drain", "inspector",
    ]

    let daemon: Daemon

    func reply(to request: LocalRequest) async -> LocalReply {
        let name = request.segments.joined(separator: "/")
        let wanted: HTTPRequest.Method = ["status", "metrics", "explain"].contains(name) ? .get : .post
        guard Self.names.contains(name) else {
            return .refusal(.notFound, "notFound", "there is nothing at this path")
        }
        guard request.head.method == wanted else {
            return .refusal(.methodNotAllowed, "methodNotAllowed", "\(name) takes \(wanted.rawValue) only")
        }
        do {
            let endpoint = request.parameter("endpoint")
            // Status and metrics are available at any time; the other commands wait for the open stores.
            if !["status", "metrics"].contains(name) { try await daemon.opened() }
            switch name {
            case "status": return LocalReply(json: await daemon.status())
            case "metrics":
                return LocalReply(text: await daemon.metrics(), type: "text/plain; version=0.0.4; charset=utf-8")
            case "explain":
                guard let table = request.parameter("table"), let id = request.parameter("id") else {
                    throw SluiceError(.invalidArgument, "explain takes a table and an id")
                }
                return LocalReply(json: try await daemon.story(of: RecordID(id), in: table, endpoint))
            case "inspector":
                guard let inspection = daemon.instruments.inspection else {
                    throw SluiceError(
                        .operationRefused, "the daemon serves no inspector: set inspector.port and start it again")
                }
                return LocalReply(json: ["address": JSON(try inspection.address())])
            case "sync": return LocalReply(json: try await daemon.sync(endpoint))
            case "reload":
                let changes = try await daemon.reload()
                var status = await daemon.status()
                status["permissions"] = JSON(changes.map { JSON($0) })
                return LocalReply(json: status)
            case "pause", "resume":
                await daemon.pause(name == "pause")
                return LocalReply(json: await daemon.status())
            default: return LocalReply(json: try await daemon.drain())
            }
        } catch {
            return .refusal(error)
        }
    }
}
