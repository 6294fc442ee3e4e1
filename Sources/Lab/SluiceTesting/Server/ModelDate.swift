internal import SluiceCore

/// The date of an HTTP header (RFC 9110, section 5.6.7).
enum ModelDate {
    static func text(_ time: Timestamp) -> String {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let day = time.ticks / (86_400 * Timestamp.ticksPerSecond)
        let iso = time.text(fractionDigits: 0)
        let parts = iso.dropLast().split(separator: "T")
        let date = parts[0].split(separator: "-")
        return
            "\(days[Int((day % 7 + 7) % 7)]), \(date[2]) \(months[(Int(date[1]) ?? 1) - 1]) \(date[0]) \(parts[1]) GMT"
    }
}
