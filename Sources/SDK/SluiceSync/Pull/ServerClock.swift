internal import SluiceBase
internal import SluiceWire

/// An observation of the clock that stamps a server's rows: the newest row of a page, with the times of the web
/// server's clock and the device's when that page was made.
///
/// `Date` is the time of the web server, whose clock may be ahead of its database's. Only this is certain: the
/// database's clock showed at least the time of a row when its page was made, and has advanced since then.
struct ServerClock: Sendable, Hashable {
    /// The time of the newest row, but no later than ``date``.
    package let row: Timestamp
    /// The `Date` of the answer.
    package let date: Timestamp
    /// The time of the page's request, by the device's clock.
    package let asked: Timestamp
    /// The time of the page's arrival, by the device's clock.
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
    /// Makes an observation; nil for a page without the time of one of the clocks.
    init?(row: Timestamp, at page: PullPage) {
        guard let date = page.serverDate, let asked = page.askedDate, let arrived = page.localDate else { return nil }
        self.init(row: row, date: date, asked: asked, arrived: arrived)
    }

    /// Returns a lower bound of the database's clock when that page was made: later by the advance that both other
    /// clocks show. If one of them was set forward, the other one bounds it.
    func least(at page: PullPage) -> Timestamp? {
        guard let date = page.serverDate, let asked = page.askedDate else { return nil }
        return Timestamp(ticks: row.ticks + min(date.ticks - self.date.ticks, asked.ticks - arrived.ticks))
    }

    /// Returns the ticks by which the server's clock has advanced more than the device's since then; negative if less.
    /// The transfer time of the two answers counts as no difference.
    func step(to page: PullPage) -> Int64 {
        guard let date = page.serverDate, let asked = page.askedDate, let arrived = page.localDate else { return 0 }
        let passed = date.ticks - self.date.ticks
        let (least, most) = (asked.ticks - self.arrived.ticks, arrived.ticks - self.asked.ticks)
        return passed > most ? passed - most : min(0, passed - least)
    }
}
