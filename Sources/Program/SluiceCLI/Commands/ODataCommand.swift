internal import ArgumentParser
internal import Foundation
internal import HTTPTypes
internal import Sluice
internal import SluiceDaemon

/// The commands about an OData service itself.
struct ODataCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "odata", abstract: "Look at an OData service.", subcommands: [MetadataCommand.self])
}

struct MetadataCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "metadata", abstract: "Print what a service says of its data, or Swift types for it.",
        discussion: """
            The address is that of the service, or of its $metadata document, which may be a file too. Metadata of v2 and v4 \
            is read, in XML and in JSON.
            """)

    @Argument(help: ArgumentHelp("The service's address, or a file.", valueName: "url or file"))
    var source: String

    @Flag(help: "Print Swift types of the rows, with their columns for #Predicate.")
    var swift = false

    @Option(help: ArgumentHelp("A file with the bearer token for the server.", valueName: "file"))
    var tokenFile: String?

    @Flag(help: "Print exactly one JSON document.")
    var json = false

    func outcome() async throws -> Outcome {
        let model = try EdmModel(document: try await document())
        if swift { return Outcome(json: ["swift": JSON(model.swift)], text: [model.swift]) }
        let sets = model.sets.map { set -> JSON in
            let key = (try? model.entitySet(set.name))??.key ?? []
            return [
                "name": JSON(set.name), "type": JSON(set.type),
                "key": JSON(key.map { ["name": JSON($0.name.text), "type": JSON($0.type.rawValue)] as JSON }),
            ]
        }
        return Outcome(
            json: ["dialect": JSON(model.version.rawValue), "sets": JSON(sets)],
            text: model.text.split(separator: "\n", omittingEmptySubsequences: false).map { Plain.line(String($0)) })
    }

    private func document() async throws -> [UInt8] {
        guard source.hasPrefix("http://") || source.hasPrefix("https://") else {
            guard source == "-" || FileManager.default.fileExists(atPath: source) else {
                throw CommandFailure.usage("there is no file \(Plain.line(source)), and it is no address")
            }
            return try InputArgument.read(source)
        }
        let endpoint = try Endpoint(source)
        var path = endpoint.path
        if !path.hasSuffix("$metadata") { path += "/$metadata" }
        if !endpoint.query.isEmpty { path += "?\(endpoint.query)" }
        var head = HTTPRequest(method: .get, scheme: endpoint.scheme, authority: endpoint.authority, path: path)
        head.headerFields[.accept] = "application/xml, application/json;q=0.5"
        if let tokenFile, let token = try await FileToken(source: .file(tokenFile)).token() {
            head.headerFields[.authorization] = "Bearer \(token)"
        }
        var context = SyncRequest.Context()
        context.limits.responseBytes = 64 << 20
        let response = try await AsyncHTTPTransport().send(SyncRequest(head, context: context))
        guard response.status == 200 else {
            throw SluiceError(
                response.status == 401 ? .unauthorized : .brokenProtocol,
                "the service answered \(response.status) to the request for its metadata", status: response.status)
        }
        return response.body.bytes
    }
}
