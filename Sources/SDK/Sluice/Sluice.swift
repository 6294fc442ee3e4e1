@_exported public import HTTPTypes
@_exported public import SluiceCore
@_exported public import SluiceHTTP
@_exported public import SluiceOData
@_exported public import SluicePredicate
@_exported public import SluiceSQLite
