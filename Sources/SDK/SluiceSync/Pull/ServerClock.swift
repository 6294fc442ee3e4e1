internal import SluiceBase
internal import SluiceWire

/// What a pull learnt of the clock that stamps a server's rows: the newest row of a page, and what the web server's
/// clock and the device's showed when that page was made.
///
/// `Date` is the time of the web server, whose clock may be ahead of its database's. Certain is only that the
/// database's clock showed at least the time of a row when the page with the row was made, and that it has gone on
/// since then.
struct ServerClock: Sendable, Hashable {
    /// The time of the newest row, but no later than ``date``.
    package let row: Timestamp
    /// The `Date` of the answer.
    package let date: Timestamp
    /// When the page was requested, by the device's clock.
    package let asked: Timestamp
    /// When the page was here, by the device's clock.
    package let arrived: Timestamp

    package init(row: Timestamp, date: Timestamp, asked: Timestamp, arrived: Timestamp) {
        self.row = min(row, date)
        self.date = date
        self.asked = asked
        self.arrived = arrived
    }
}

extension ServerClock {
    package var json: JSON {
        [
            "row": JSON(row.description), "date": JSON(date.description), "asked": JSON(asked.description),
            "arrived": JSON(arrived.description),
        ]
    }

    package init?(json: JSON) {
        func time(_ name: String) -> Timestamp? { json[name]?.string.flatMap { Timestamp($0) } }
        guard let row = time("row"), let date = time("date"), let asked = time("asked"), let arrived = time("arrived")
        else { return nil }
        self.init(row: row, date: date, asked: asked, arrived: arrived)
    }
}

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
