import Foundation
import HTTPTypes
import SluiceCore
import SluiceSignOn
import Synchronization
import Testing

@testable import SluiceDaemon

@Suite(.timeLimit(.minutes(10))) struct TokenTests {
    /// An OAuth server that keeps what it was asked.
    private final class TokenServer: Transport {
        let requests = Mutex<[SyncRequest]>([])
        let answers: Mutex<[(Int, String)]>

        init(_ answers: (Int, String)...) { self.answers = Mutex(answers) }

        func send(_ request: SyncRequest) async throws -> SyncResponse {
            requests.withLock { $0.append(request) }
            let (status, body) = answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
            return SyncResponse(HTTPResponse(status: .init(code: status)), body: MessageBody(bytes: Array(body.utf8)))
        }

        var forms: [String] {
            requests.withLock { $0.map { String(decoding: $0.body.bytes, as: UTF8.self) } }
        }
    }

    private func write(_ text: String) throws -> String {
        let path = "/tmp/sluice-token-\(UUID().uuidString)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test("a program that prints another user's token at a renewal has nothing sent with it")
    func anotherOwner() async throws {
        let kept = try write(#"{"sub":"ann"}"#)
        func token(_ claims: String) -> String { "e30.\(Data(claims.utf8).base64EncodedString()).c2ln" }
        try token(#"{"sub":"ann"}"#).write(toFile: kept, atomically: true, encoding: .utf8)
        let source = TokenSource.command(CommandToken(command: ["/bin/cat", kept]))
        let ann = try #require(SessionUser.named(by: token(#"{"sub":"ann"}"#)))
        for isConfigured in [false, true] {
            let owned = OwnedToken(source, of: isConfigured ? "ann" : ann, isConfigured: isConfigured)
            let first = try await owned.token()
            #expect(first != nil)
            try token(#"{"sub":"ben"}"#).write(toFile: kept, atomically: true, encoding: .utf8)
            for _ in 0..<2 {
                let error = await #expect(throws: SluiceError.self) { try await owned.refresh(refused: first) }
                #expect(error?.code == .unauthorized)
                await #expect(throws: SluiceError.self) { try await owned.token() }
            }
            // A session of the settings' user cannot begin for another.
            #expect(owned.isOfOther == !isConfigured)
            try token(#"{"sub":"ann","iat":2}"#).write(toFile: kept, atomically: true, encoding: .utf8)
            #expect(try await owned.refresh(refused: nil) != nil)
        }
    }

    @Test("the user of an OAuth session is the owner that its token names, and else the client")
    func userOfOAuth() async throws {
        func token(_ claims: String) -> String { "e30.\(Data(claims.utf8).base64EncodedString()).c2ln" }
        let (ann, ben) = (token(#"{"sub":"ann"}"#), token(#"{"sub":"ben"}"#))
        let server = TokenServer(
            (200, "{\"access_token\":\"\(ann)\"}"), (200, "{\"access_token\":\"\(ben)\"}"))
        let oauth = try OAuthTokens(
            "http://127.0.0.1/t", client: "c", secret: .file(try write("s")), grant: .clientCredentials,
            transport: server)
        let source = TokenSource.oauth(oauth)
        #expect(try await source.identity(.bearer, usesNetwork: false) == nil && server.forms.isEmpty)
        let identity = try #require(try await source.identity(.bearer, usesNetwork: true))
        let user = try #require(SessionUser.named(by: identity))
        let owned = OwnedToken(source, of: user, isConfigured: false)
        #expect(try await owned.token() == ann)
        await #expect(throws: SluiceError.self) { try await owned.refresh(refused: ann) }
        #expect(owned.isOfOther)
        #expect(try await source.identity(.bearer, usesNetwork: true).flatMap(SessionUser.named) != user)
        let opaque = TokenSource.oauth(
            try OAuthTokens(
                "http://127.0.0.1/t", client: "c", secret: .file(try write("s")), grant: .clientCredentials,
                transport: TokenServer((200, #"{"access_token":"x"}"#))))
        #expect(try await opaque.identity(.bearer, usesNetwork: true)?.hasSuffix("|c") == true)
    }

    @Test("with HTTP Basic the user is the name, and a new password is no other user")
    func basic() async throws {
        let file = try write("ann:first")
        let source = TokenSource.fixed(FileToken(source: .file(file)))
        let name = try #require(try await source.identity(.basic, usesNetwork: false))
        #expect(name == "ann")
        let user = SessionUser.fingerprint(of: name, among: [])
        let owned = OwnedToken(source, .basic, of: user, isConfigured: false)
        #expect(try await owned.token() == "ann:first")
        try "ann:second".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try await owned.refresh(refused: "ann:first") == "ann:second")
        try "ben:first".write(toFile: file, atomically: true, encoding: .utf8)
        await #expect(throws: SluiceError.self) { try await owned.token() }
    }

    @Test("a program's output is the token; one that fails, hangs on or prints nothing is told without its arguments")
    func command() async throws {
        let counter = try write("")
        let script = "echo x >> \(counter); echo token-$(wc -l < \(counter))"
        let token = CommandToken(command: ["/bin/sh", "-c", script])
        #expect(try await token.token() == "token-1")
        #expect(try await token.token() == "token-1")
        #expect(try await token.refresh(refused: "token-1") == "token-2")
        for command in [["/bin/false", "canary"], ["/bin/true", "canary"], ["/nonexistent", "canary"]] {
            let error = await #expect(throws: SluiceError.self) { try await CommandToken(command: command).token() }
            #expect(error?.code == .unauthorized && !"\(error!)".contains("canary"))
        }
        // What it leaves behind keeps its output open, and nobody waits for that.
        let forking = CommandToken(command: ["/bin/sh", "-c", "sleep 60 & echo token"])
        let start = ContinuousClock.now
        #expect(try await forking.token() == "token")
        #expect(ContinuousClock.now - start < .seconds(5))
        let marked = CommandToken(command: ["/bin/printf", "\\357\\273\\277token\\r\\n"])
        #expect(try await marked.token() == "token")
        let endless = CommandToken(command: ["/usr/bin/yes"])
        await #expect(throws: SluiceError.self) { try await endless.token() }
    }
}
