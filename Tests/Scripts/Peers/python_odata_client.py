"""python-odata, a client for v4, reads and changes the tables of a backend: python_odata_client.py http://127.0.0.1:PORT"""
import sys

import odata.exceptions
from odata import ODataService

root = f"{sys.argv[1]}/odata/v4/"
service = ODataService(root, reflect_entities=True, quiet_progress=True)
Customer, Order = service.entities["customers"], service.entities["orders"]

for number in range(1, 8):
    row = Customer()
    row.id, row.name, row.country, row.points = f"c{number}", f"Name {number}", "DE" if number % 2 else "US", number
    service.save(row)
    order = Order()
    order.id, order.customerId, order.total = f"o{number}", f"c{number}", number * 10
    service.save(order)
made = Customer()
made.name = "O'Neil"
service.save(made)
assert made.id, "the server makes the id"

# Pages, filters, orders, counts.
assert sorted(row.id for row in service.query(Customer)) == sorted([f"c{number}" for number in range(1, 8)] + [made.id])
query = service.query(Customer).filter(Customer.country == "US").order_by(Customer.name.desc()).limit(2)
assert [row.id for row in query] == ["c6", "c4"]
assert [row.id for row in service.query(Customer).filter(Customer.name.startswith("Name 3"))] == ["c3"]
assert service.query(Customer).filter(Customer.name == "O'Neil").first().id == made.id
assert service.query(Customer).get("c5").points == 5
assert service.query(Customer).count() == 8
assert service.query(Customer).filter(Customer.points > 5).count() == 2

# Update, with the row read anew; delete.
row = service.query(Customer).get("c1")
row.country = "FR"
service.save(row)
assert service.query(Customer).get("c1").country == "FR"
assert service.query(Customer).get("c1").name == "Name 1"
service.delete(service.query(Customer).get("c7"))
assert service.query(Customer).count() == 7
twice = Customer()
twice.id = "c1"
try:
    service.save(twice)
    raise AssertionError("the key was there")
except odata.exceptions.ODataError as error:
    assert "exists" in str(error), error
