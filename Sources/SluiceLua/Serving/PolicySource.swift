internal import Foundation
internal import SluiceCore

/// The file of a policy.
struct PolicySource: Sendable {
    let path: String

    /// Reads the policy and checks the order of its chains, so that a contradiction is told with its place in the file.
    func policy(_ options: PluginOptions) throws(SluiceError) -> (policy: PluginPolicy, yaml: String) {
        let file = URL(fileURLWithPath: path)
        guard let data = try? Data(contentsOf: file), let yaml = String(data: data, encoding: .utf8) else {
            throw SluiceError(.invalidArgument, "\(path): the file cannot be read, or is not UTF-8")
        }
        let policy = try PluginPolicy(yaml: yaml, file: path, folder: file.deletingLastPathComponent().path)
        let filters = options.filters.map { Placed<PluginPlan?>(nil, placement: $0.placement) }
        try policy.check(beside: [.http: filters])
        return (policy, yaml)
    }
}
