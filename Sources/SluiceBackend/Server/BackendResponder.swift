internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import SluiceCore

/// Carries requests from the listener to the backend, and its answers back.
struct BackendResponder: HTTPResponder {
    let backend: Backend
    let streams: OpenStreams
    let status: StatusRoutes
    let meters: BackendMeters

    func respond(to request: Hummingbird.Request, context: BackendContext) async throws -> Hummingbird.Response {
        if let answer = await status.reply(to: request.head) { return Self.response(answer) }
        let begun = ContinuousClock.now
        let proxies = ForwardedHead(proxies: backend.configuration.proxies)
        let request = Hummingbird.Request(
            head: proxies.head(request.head, from: context.channel.remoteAddress), body: request.body)
        let response = try await answer(request, context)
        meters.count(request.head, response.status, took: begun.duration(to: .now))
        return response
    }

    private func answer(_ request: Hummingbird.Request, _ context: BackendContext) async throws -> Hummingbird.Response
    {
        let allowance: Allowance?
        do throws(Refusal) {
            allowance = try await backend.admit(request.head, from: context.channel.remoteAddress)
        } catch {
            return Self.response(backend.refuse(SluiceCore.Request(request.head), error))
        }
        if ChangeStream.isAsked(by: request.head) {
            switch await ChangeStream.begin(request.head, backend) {
            case .stream(let first, let stream): return streams.response(first, stream, context.channel)
            case .refusal(let answer): return Self.response(answer)
            }
        }
        var request = request
        let answer: SluiceCore.Response
        let most = backend.configuration.limits.bodyBytes
        do {
            let body = try await request.collectBody(upTo: most)
            answer = await backend.respond(
                to: SluiceCore.Request(request.head, body: Body(bytes: Array(body.readableBytesView))), by: allowance)
        } catch is NIOTooManyBytesError {
            answer = backend.refuse(
                SluiceCore.Request(request.head),
                Refusal(.contentTooLarge, "the body is larger than \(most) bytes"))
        }
        context.logger.debug(
            "answered",
            metadata: [
                "http.method": "\(request.method.rawValue)", "http.path": "\(request.uri.path)",
                "http.status": "\(answer.status)",
            ])
        return Self.response(answer)
    }

    private static func response(_ answer: SluiceCore.Response) -> Hummingbird.Response {
        let bytes = answer.body.bytes
        return Hummingbird.Response(
            status: answer.head.status, headers: answer.head.headerFields,
            body: bytes.isEmpty ? .init() : .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

extension Backend {
    /// Lets a request in, or not, before anything else is done for it. Nil where there is no limit.
    ///
    /// - Throws: ``Refusal`` (400, 429).
    func admit(_ head: HTTPRequest, from address: SocketAddress?) async throws(Refusal) -> Allowance? {
        try Self.checkHost(head)
        guard let limiter = served.limiter else { return nil }
        // Who has no valid token is refused by the route, and counts by the address here.
        let user = try? await served.authenticator?.principal(for: head.headerFields)?.user
        let allowance = Allowance(
            limiter: limiter, client: limiter.client(head, user: user, from: address))
        try allowance.pay()
        return allowance
    }

    /// The refusal of a request that was not read whole.
    func refuse(_ request: SluiceCore.Request, _ refusal: Refusal) -> SluiceCore.Response {
        if odata != nil, request.head.isOData { return ODataRoutes.response(to: refusal, request.head) }
        let wire = (try? ServerWire.of(request.head, RequestTarget(request.head))) ?? .azureV2
        return wire.response(to: refusal, asked: [])
    }
}
