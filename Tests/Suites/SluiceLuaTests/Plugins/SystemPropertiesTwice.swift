import Foundation
import HTTPTypes
import SluiceCore
import SluiceTesting

@testable import SluiceBase
@testable import SluiceLua
@testable import SluicePluginTools
@testable import SluiceSync
@testable import SluiceWire

/// The handling of system columns, once by the filters that are built in and once by the plugin, for the same exchange.
struct SystemPropertiesTwice {
    /// What one of the two makes of an exchange.
    struct Outcome: Equatable, CustomStringConvertible {
        /// Method, path, fields and body of what was sent; nil if nothing was.
        var sent: [String]?
        /// Status, fields and body of the answer; nil if there was an error.
        var answer: [String]?

        var description: String {
            "sent \(sent?.joined(separator: " | ") ?? "nothing"), answered \(answer?.joined(separator: " | ") ?? "by an error")"
        }
    }

    static let dialects: [Dialect] = [.azureV1, .azureV2, .azureV3, .datasync]

    let builtIn: [any RequestFilter]
    let plugins: Plugins

    init(_ dialect: Dialect, _ selection: SystemProperty.Selection) async throws {
        builtIn = [
            SystemProperties(dialect: dialect, selection: selection), LiftVersion(dialect: dialect),
            StripSystemProperties(dialect: dialect),
        ]
        let bundle = try PluginBundle(
            folder: BundledPluginsTests.folder.appendingPathComponent("system-properties").path)
        let tables = JSON(
            members: selection.tables.sorted { $0.key < $1.key }.map { name, names in
                (name, JSON(names.map { JSON($0) }))
            })
        let config: JSON = [
            "wire": JSON(dialect.name), "ask_for": JSON(selection.standard.map { JSON($0) }), "tables": tables,
        ]
        plugins = try await Plugins([try PluginPlan(bundle, config: config)], options: PluginOptions(dialect: dialect))
    }

    /// The exchange by the filters, and by the plugin.
    func outcomes(_ request: SyncRequest, _ response: SyncResponse) async -> (builtIn: Outcome, plugin: Outcome) {
        (
            await Self.outcome(request, response, through: builtIn),
            await Self.outcome(request, response, through: [plugins.filter])
        )
    }

    private static func outcome(_ request: SyncRequest, _ response: SyncResponse, through filters: [any RequestFilter])
        async
        -> Outcome
    {
        let transport = ScriptedTransport([.answer(response)])
        let answer = try? await FilterChain(filters, transport: transport).send(request)
        let sent = transport.requests.first.map { sent in
            [sent.head.method.rawValue, sent.head.path ?? ""] + texts(sent.head.headerFields)
                + [text(sent.body, from: request.body)]
        }
        return Outcome(
            sent: sent,
            answer: answer.map {
                [String($0.status)] + texts($0.head.headerFields) + [text($0.body, from: response.body)]
            })
    }

    private static func texts(_ fields: HTTPFields) -> [String] {
        fields.map { "\($0.name.canonicalName): \($0.value)" }.sorted()
    }

    /// The body's bytes if they are as they were; else its JSON with the names in order, since a script has none.
    private static func text(_ body: MessageBody, from original: MessageBody) -> String {
        if body.bytes == original.bytes { return String(decoding: body.bytes, as: UTF8.self) }
        guard let json = try? body.json else { return "changed: \(String(decoding: body.bytes, as: UTF8.self))" }
        return "changed: \(sorted(json))"
    }

    private static func sorted(_ json: JSON) -> JSON {
        if let elements = json.elements { return JSON(elements.map(sorted)) }
        guard let members = json.members else { return json }
        return JSON(members: members.sorted { $0.name < $1.name }.map { ($0.name, sorted($0.value)) })
    }
}
