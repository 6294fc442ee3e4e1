import Foundation
import HTTPTypes
import SluiceBase
import SluiceSignOn
import SluiceWire
import Synchronization
import Testing

@Suite("Sign-in on another device") struct DeviceSignInTests {
    private static let codes =
        #"{"device_code":"dev","user_code":"ABCD-EFGH","verification_uri":"https://x.example/d","expires_in":600,"interval":5}"#

    private func signIn(_ server: TokenServer, _ clock: PausedClock) throws -> DeviceSignIn {
        try DeviceSignIn(
            device: "https://x.example/code", token: "https://x.example/token", client: "kiosk",
            scope: "offline_access",
            transport: server, environment: clock.environment)
    }

    @Test("it waits as the server says, through broken connections, and keeps the refresh token")
    func whole() async throws {
        let server = TokenServer(
            (200, Self.codes), (400, #"{"error":"authorization_pending"}"#), (400, #"{"error":"slow_down"}"#), (0, ""),
            (503, ""), (200, #"{"access_token":"a","refresh_token":"kept"}"#))
        let clock = PausedClock()
        let signIn = try signIn(server, clock)
        let prompt = try await signIn.begin()
        #expect(prompt.address == "https://x.example/d" && prompt.code == "ABCD-EFGH" && prompt.completeAddress == nil)
        let file = "/tmp/sluice-sign-in-\(UUID().uuidString)"
        try await signIn.finish(prompt, into: .file(file))
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "kept")
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
        #expect(server.forms[0] == "client_id=kiosk&scope=offline_access")
        #expect(
            server.forms[1]
                == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=dev&client_id=kiosk")
        #expect(clock.pauses.withLock { $0 } == [5, 5, 10, 20, 20].map { .seconds($0) })
    }

    @Test(
        "it ends where the user refuses, nobody comes, or there is nothing to keep",
        arguments: [
            (#"{"error":"access_denied"}"#, 400, "access_denied"),
            (#"{"error":"expired_token"}"#, 400, "expired_token"),
            (#"{"access_token":"a"}"#, 200, "offline_access"),
            (#"{"error":"authorization_pending"}"#, 400, "nobody has signed in"),
        ])
    func ends(_ body: String, _ status: Int, _ reason: String) async throws {
        let clock = PausedClock()
        let signIn = try signIn(TokenServer((200, Self.codes), (status, body)), clock)
        let prompt = try await signIn.begin()
        let error = await #expect(throws: SluiceError.self) {
            try await signIn.finish(prompt, into: .file("/nonexistent/file"))
        }
        #expect(error?.code == .unauthorized && error?.message.contains(reason) == true)
        #expect(clock.pauses.withLock { $0.count } <= 120, "ten minutes")
    }

    @Test("what a server says to the user cannot write over a terminal")
    func printable() async throws {
        let server = TokenServer(
            (200, #"{"device_code":"d","user_code":"A\u001b[2JB","verification_uri":"https://x.example\r\n"}"#))
        let prompt = try await signIn(server, PausedClock()).begin()
        #expect(prompt.code == "A[2JB" && prompt.address == "https://x.example")
    }
}
