import Sluice

let open = TableQuery("todos", filter: try? QueryExpression(odata: "done eq false"))
