extension Timestamp {
    /// Longer than all of time, and still far from what a number can hold.
    private static let endless: Int64 = 400_000_000_000

    /// The time that much later, at most the end of time.
    public func advanced(by duration: Duration) -> Timestamp {
        let parts = duration.components
        let seconds = min(max(parts.seconds, -Self.endless), Self.endless)
        return Timestamp(ticks: ticks + seconds * Self.ticksPerSecond + parts.attoseconds / 100_000_000_000)
    }

    /// How long it is from here to `later`; negative if that was before.
    package func duration(to later: Timestamp) -> Duration {
        let ticks = later.ticks - self.ticks
        return .seconds(ticks / Self.ticksPerSecond) + .nanoseconds(ticks % Self.ticksPerSecond * 100)
    }
}
