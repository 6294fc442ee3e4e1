"""pyodata, SAP's client for v2, reads and changes the tables of a backend: pyodata_client.py http://127.0.0.1:PORT"""
import datetime
import sys

import pyodata
import requests
from pyodata.exceptions import HttpError

session = requests.Session()
service = pyodata.Client(f"{sys.argv[1]}/odata/v2", session)
customers, orders = service.entity_sets.customers, service.entity_sets.orders


def refused(status, request):
    try:
        request.execute()
    except HttpError as error:
        assert error.response.status_code == status, (error.response.status_code, error.response.content)
        return error
    raise AssertionError(f"expected {status}")


# Create; 64-bit integers, times and quotes come back as they were.
since = datetime.datetime(2024, 5, 6, 7, 8, 9, tzinfo=datetime.timezone.utc)
made = customers.create_entity().set(
    id="o'neil", name="O'Neil", country="US", points=2**53 + 1, rate=0.5, active=True, since=since).execute()
assert made.id == "o'neil" and made.points == 2**53 + 1 and made.rate == 0.5 and made.active is True
assert made.since == since, made.since
assert made.etag.startswith('W/"'), made.etag
for number in range(1, 8):
    customers.create_entity().set(id=f"c{number}", name=f"Name {number}", country="DE", points=number).execute()
    orders.create_entity().set(id=f"o{number}", customerId=f"c{number}", total=number * 10).execute()
assert customers.create_entity().set(name="made").execute().id

# Read: by key, with a filter, an order, a part, a count, page after page.
assert customers.get_entity("o'neil").execute().name == "O'Neil"
found = customers.get_entities().filter("name eq 'Name 3'").execute()
assert [row.id for row in found] == ["c3"]
found = customers.get_entities().filter("substringof('ame 4',name) and points gt 3L").execute()
assert [row.id for row in found] == ["c4"]
objects = customers.get_entities()
assert [row.id for row in objects.filter(objects.name == "Name 5").execute()] == ["c5"]
top = customers.get_entities().filter("country eq 'DE'").order_by("points desc").top(2).skip(1).select("id,points").execute()
assert [(row.id, row.points) for row in top] == [("c6", 6), ("c5", 5)]
assert customers.get_entities().count().execute() == 9
assert customers.get_entities().count(inline=True).execute().total_count == 9
rows, request = [], customers.get_entities()
while True:
    page = request.execute()
    assert len(page) <= 3
    rows += [row.id for row in page]
    if page.next_url is None:
        break
    request = customers.get_entities().next_url(page.next_url)
assert len(rows) == 9 and len(set(rows)) == 9, rows

# Navigation and expansion.
assert [row.id for row in customers.get_entity("c2").nav("orders").get_entities().execute()] == ["o2"]
assert orders.get_entity("o2").nav("customer").execute().id == "c2"
assert orders.get_entity("o2").expand("customer").execute().customer.name == "Name 2"

# Update by each verb; delete.
for verb, points in [("PATCH", 21), ("MERGE", 22)]:
    customers.update_entity("c1", method=verb).set(points=points).execute()
    row = customers.get_entity("c1").execute()
    assert (row.points, row.name) == (points, "Name 1")
customers.update_entity("c1", method="PUT").set(name="replaced").execute()
assert session.get(f"{sys.argv[1]}/odata/v2/customers('c1')?$format=json").json()["d"]["points"] is None
customers.delete_entity("c7").execute()
refused(404, customers.get_entity("c7"))
refused(404, customers.delete_entity("c7"))

# A conflict: the entity has another tag now.
before = customers.get_entity("c2").execute()
change = customers.update_entity("c2").set(points=1)
change.add_headers({"If-Match": before.etag})
change.execute()
change = customers.update_entity("c2").set(points=2)
change.add_headers({"If-Match": before.etag})
error = refused(412, change)
assert b'"errordetails"' in error.response.content

# A batch: reads beside a change set; one that fails changes nothing.
batch = service.create_batch()
batch.add_request(customers.get_entity("c3"))
changes = service.create_changeset()
changes.add_request(customers.create_entity().set(id="b1", name="in a batch"))
changes.add_request(customers.update_entity("c3").set(points=33))
batch.add_request(changes)
batch.add_request(customers.get_entity("c3"))
first, changed, last = batch.execute()
assert first.points == 3 and last.points == 33 and changed[0].id == "b1"
batch = service.create_batch()
changes = service.create_changeset()
changes.add_request(customers.update_entity("c3").set(points=0))
stale = customers.update_entity("c4").set(points=0)
stale.add_headers({"If-Match": 'W/"stale"'})
changes.add_request(stale)
batch.add_request(changes)
try:
    batch.execute()
    raise AssertionError("the change set was to fail")
except HttpError as error:
    assert error.response.status_code == 412, error.response.status_code
assert customers.get_entity("c3").execute().points == 33
