internal import SluiceBase

extension ServerClock {
    /// Nil for a page of which one of the clocks is not known.
    init?(row: Timestamp, at page: PullPage) {
        guard let date = page.serverDate, let asked = page.askedDate, let arrived = page.localDate else { return nil }
        self.init(row: row, date: date, asked: asked, arrived: arrived)
    }

    /// The time that the database's clock shows at least when that page is made: as much later as both other clocks
    /// have gone on. Whichever of them was set forward, the other one bounds it.
    func least(at page: PullPage) -> Timestamp? {
        guard let date = page.serverDate, let asked = page.askedDate else { return nil }
        return Timestamp(ticks: row.ticks + min(date.ticks - self.date.ticks, asked.ticks - arrived.ticks))
    }

    /// By how many ticks the server's clock has gone on more than the device's since then; negative where it has gone on
    /// less. The time that the two answers were on their way counts as no difference.
    func step(to page: PullPage) -> Int64 {
        guard let date = page.serverDate, let asked = page.askedDate, let arrived = page.localDate else { return 0 }
        let passed = date.ticks - self.date.ticks
        let (least, most) = (asked.ticks - self.arrived.ticks, arrived.ticks - self.asked.ticks)
        return passed > most ? passed - most : min(0, passed - least)
    }
}
