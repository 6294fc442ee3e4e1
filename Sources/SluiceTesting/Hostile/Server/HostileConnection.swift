/// A connection to a hostile server: reads requests and does with each what it was told.
struct HostileConnection: Sendable {
    let socket: HostileSocket
    let number: Int
    let port: HostilePort
    let elsewhere: String
    let answer: HostileCase.Answer

    /// Serves the connection until one side ends it. Blocks.
    func run(_ greeting: [HostileAct]) {
        guard greeting.allSatisfy(perform) else { return }
        var reader = HostileReader(socket)
        while !port.isStopped, let parts = reader.next() {
            let request = port.heard(parts, connection: number, elsewhere: elsewhere)
            guard answer(request).allSatisfy(perform) else { return }
        }
    }

    /// - Returns: whether the connection goes on.
    private func perform(_ act: HostileAct) -> Bool {
        switch act {
        case .send(let bytes): return socket.write(bytes)
        case .repeated(let bytes, let times): return write(bytes, times)
        case .drip(let bytes, let pause):
            return bytes.allSatisfy { wait(pause) && socket.write([$0]) }
        case .pause(let duration): return wait(duration)
        case .hold:
            // The server's end shuts the socket, which counts as left.
            return wait(.seconds(3600))
        case .close: return false
        case .reset:
            socket.resetOnClose()
            return false
        }
    }

    private func write(_ bytes: [UInt8], _ times: Int) -> Bool {
        let inBlock = max(1, 65_536 / max(1, bytes.count))
        let block = Array(repeatElement(bytes, count: min(times, inBlock)).joined())
        var left = times
        while left >= inBlock {
            guard socket.write(block) else { return false }
            left -= inBlock
        }
        return socket.write(Array(block.prefix(left * bytes.count)))
    }

    private func wait(_ duration: Duration) -> Bool {
        let end = ContinuousClock.now + duration
        while true {
            let left = (end - ContinuousClock.now) / .milliseconds(1)
            if left <= 0 { return true }
            if socket.isLeft(within: Int32(min(max(left, 1), 1000))) { return false }
        }
    }
}
