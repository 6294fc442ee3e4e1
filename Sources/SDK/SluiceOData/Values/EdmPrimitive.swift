/// The primitive types of OData's entity data model, by their full names: those of v2 (OData v2, Overview, section 6)
/// and of v4 (CSDL 4.01, section 3.3) in one list, since a service may describe itself in either.
public enum EdmPrimitive: String, Sendable, Hashable, CaseIterable {
    case binary = "Edm.Binary"
    case boolean = "Edm.Boolean"
    case byte = "Edm.Byte"
    case sbyte = "Edm.SByte"
    case int16 = "Edm.Int16"
    case int32 = "Edm.Int32"
    case int64 = "Edm.Int64"
    case single = "Edm.Single"
    case double = "Edm.Double"
    case decimal = "Edm.Decimal"
    case string = "Edm.String"
    case guid = "Edm.Guid"
    /// v2: a time without a zone, from 1753 on, to 100 ns.
    case dateTime = "Edm.DateTime"
    case dateTimeOffset = "Edm.DateTimeOffset"
    /// v2: a time of day, written as a duration: `PT14H30M`.
    case time = "Edm.Time"
    /// v4: a day.
    case date = "Edm.Date"
    /// v4: a time of day.
    case timeOfDay = "Edm.TimeOfDay"
    /// v4: a duration.
    case duration = "Edm.Duration"
    case stream = "Edm.Stream"
    case geographyPoint = "Edm.GeographyPoint"
    case geometryPoint = "Edm.GeometryPoint"
}
