import Sluice

let open = Query("todos", filter: try? QueryExpression(odata: "done eq false"))
