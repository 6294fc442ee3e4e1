#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A place on the Earth, for `geo.distance`. Records hold one as GeoJSON (RFC 7946, 3.1.2):
/// `{"type":"Point","coordinates":[longitude,latitude]}`.
///
/// ```swift
/// if let berlin = GeographyPoint(longitude: 13.4, latitude: 52.5) {
///     query = query.where(column("place").distance(to: .init(berlin)) < 5000)
/// }
/// ```
public struct GeographyPoint: Sendable, Hashable {
    /// Degrees east, -180 to 180.
    public let longitude: Double
    /// Degrees north, -90 to 90.
    public let latitude: Double

    /// The mean radius of the Earth in metres (IUGG, R₁).
    static let earthRadius = 6_371_008.8

    /// Creates a place, or nil for coordinates outside of the ranges.
    public init?(longitude: Double, latitude: Double) {
        guard longitude.magnitude <= 180, latitude.magnitude <= 90 else { return nil }
        self.longitude = longitude
        self.latitude = latitude
    }

    /// Reads the place from a GeoJSON point, and ignores a third coordinate, the height. Nil for other JSON.
    package init?(_ json: JSON) {
        guard json.kind == .object, json["type"]?.string == "Point", let coordinates = json["coordinates"]?.elements,
            (2...3).contains(coordinates.count), let longitude = coordinates[0].number,
            let latitude = coordinates[1].number
        else { return nil }
        self.init(longitude: longitude.double, latitude: latitude.double)
    }

    /// Returns the distance along a sphere of the Earth's mean radius, in metres, by the haversine formula. It is
    /// within half a percent of a server's result on an ellipsoid.
    public func distance(to other: GeographyPoint) -> Double {
        let radians = Double.pi / 180
        let height = sin((other.latitude - latitude) * radians / 2)
        let width = sin((other.longitude - longitude) * radians / 2)
        let square = height * height + cos(latitude * radians) * cos(other.latitude * radians) * width * width
        return 2 * Self.earthRadius * asin(min(1, square.squareRoot()))
    }
}
