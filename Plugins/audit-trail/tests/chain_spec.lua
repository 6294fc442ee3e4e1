local chain = require("lib.chain")

local function entries()
  local list, previous = {}, chain.start
  for n, text in ipairs { "first", "second", "third" } do
    previous = chain.hash(text, previous)
    list[n] = { n = n, text = text, hash = previous }
  end
  return list
end

describe("the chain", function()
  it("holds where nothing was touched", function()
    expect(chain.first_fault(entries(), chain.start)).to_be(nil)
  end)

  it("finds an entry that was changed", function()
    local list = entries()
    list[2].text = "another"
    expect(chain.first_fault(list, chain.start)).to_be(2)
  end)

  it("finds the place where one was taken out", function()
    local list = entries()
    table.remove(list, 2)
    expect(chain.first_fault(list, chain.start)).to_be(3)
  end)

  it("can begin in the middle, where the oldest are gone", function()
    local list = entries()
    local before = table.remove(list, 1).hash
    expect(chain.first_fault(list, before)).to_be(nil)
  end)
end)
