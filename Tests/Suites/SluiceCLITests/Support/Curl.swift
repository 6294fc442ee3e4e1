import Foundation
import Sluice

/// Asks the gateway with curl, as any program on the machine may.
struct Curl {
    let base: [String]

    static let program = Program(path: "/usr/bin/curl")

    /// The status, the headers in small letters, and the body.
    func callAsFunction(
        _ method: String, _ path: String, _ body: String? = nil, _ headers: String...
    ) async throws -> (status: Int, headers: [String: String], body: JSON) {
        var arguments = ["-s", "-i", "-X", method] + base.dropLast() + [base.last! + path]
        for header in headers + ["ZUMO-API-VERSION: 2.0.0"] { arguments += ["-H", header] }
        if let body { arguments += ["-H", "Content-Type: application/json", "-d", body] }
        let output = try await Self.program.run(arguments).output.replacing("\r\n", with: "\n")
        let parts = output.split(separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
        let lines = (parts.first ?? "").split(separator: "\n")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let pair = line.split(separator: ":", maxSplits: 1)
            if pair.count == 2 { fields[pair[0].lowercased()] = pair[1].trimmingCharacters(in: .whitespaces) }
        }
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return (status, fields, (try? JSON(parsing: String(parts.dropFirst().first ?? ""))) ?? .null)
    }
}
