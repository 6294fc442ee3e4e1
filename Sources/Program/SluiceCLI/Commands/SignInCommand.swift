internal import ArgumentParser
internal import Sluice
internal import SluiceDaemon
internal import SluiceSignOn

struct SignInCommand: OutcomeCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in",
        abstract: "Sign a user in on another device, and keep the refresh token.",
        discussion: """
            Shows an address and a code, to be entered in any browser, and waits until that is done (OAuth 2.0, RFC 8628). \
            The configuration names the server: oauth.device-url, oauth.token-url, oauth.client-id, and \
            oauth.refresh-token-file, where the refresh token is kept for every command and the daemon. Ends with 4 if \
            the user refuses or the code expires.
            """)

    @OptionGroup(title: "Store and server") var connection: ConnectionOptions

    func outcome() async throws -> Outcome {
        let settings = try ClientSettings(connection)
        guard let (signIn, place) = settings.signIn else {
            throw CommandFailure.usage(
                "the configuration needs oauth.device-url, oauth.token-url, oauth.client-id and oauth.refresh-token-file"
            )
        }
        let prompt = try await signIn.begin()
        // On the other stream, so that the output stays one document.
        StandardStream.tell(line: "Open \(prompt.address) and enter \(prompt.code)")
        if let address = prompt.completeAddress { StandardStream.tell(line: "or open \(address)") }
        try await signIn.finish(prompt, into: place)
        return Outcome(json: ["signedIn": true], text: ["signed in; the refresh token is kept"])
    }
}
