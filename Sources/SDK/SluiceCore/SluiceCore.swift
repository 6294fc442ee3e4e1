@_exported public import SluiceBase
@_exported public import SluiceSync
@_exported public import SluiceWire
