@_exported public import HTTPTypes
@_exported public import SluiceCore
@_exported public import SluiceOData
@_exported public import SluicePredicate
@_exported public import SluiceSQLite

#if All || HTTP || Lua || Service
    @_exported public import SluiceHTTP
#endif
