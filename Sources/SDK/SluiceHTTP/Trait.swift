// The packages that this target uses are there with its trait alone.
#if !(All || HTTP || Lua || Service)
    #error("SluiceHTTP needs the trait HTTP of the package sluice: .package(…, traits: [\"HTTP\"])")
#endif
