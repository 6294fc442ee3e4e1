internal import SluiceCore

/// Where a device's process has its tokens from: it remembers the last one it was given, good or not.
struct SimulatedTokens: TokenProvider {
    let device: SimulatedDevice
    let process: SimulatedProcess

    private var account: SimulatedAccount { SimulatedAccount(user: process.user, device: process.device) }

    func token() async throws -> String? { device.token(of: account) }

    func refresh(refused: String?) async throws -> String? {
        try process.checkAlive()
        if device.parts.faults.strikes(.tokenFails, of: device.index) { throw SimulatedMishap() }
        let token = device.parts.tokens.current(account)
        device.remember(token, of: account)
        return token
    }
}
