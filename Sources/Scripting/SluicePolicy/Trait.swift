// The packages that this target uses are there with its trait alone.
#if !(All || Lua)
    #error("SluicePolicy needs the trait Lua of the package sluice: .package(…, traits: [\"Lua\"])")
#endif
