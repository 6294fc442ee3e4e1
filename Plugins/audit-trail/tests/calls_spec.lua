describe("the trail", function()
  local function push(id) return { operation = { operation = id, record = { id = "1", a = 1 } } } end

  it("has an entry for each change, and none for one that is sent again", function()
    local p = plugin { config = { header = "X-Change" } }
    p:before_push(push("o1"))
    p:before_push(push("o2"), { clock = "2026-01-02T00:00:00Z" })
    local again = p:before_push(push("o1"), { clock = "2026-01-03T00:00:00Z" })
    expect(again.answer).to_be("none")
    expect(again.kv.head.n).to_be(2)
    local sent = p:request { request = { operation = "o2" } }
    expect(sent.request.headers["X-Change"]).to_be("2 " .. again.kv.head.hash)
  end)
end)
