@_exported public import SluiceCore
