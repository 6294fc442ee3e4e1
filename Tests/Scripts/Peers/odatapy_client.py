"""odatapy's client, for v4.01, reads and changes the tables of a backend: odatapy_client.py http://127.0.0.1:PORT"""
import sys

from odatapy.client import ODataClient
from odatapy.client.responses import ODataClientError
from odatapy.client.transport import HttpxTransport

client = ODataClient(f"{sys.argv[1]}/odata/v4/", HttpxTransport())
names = set(client.get_service_document().entity_sets)
assert names == {"customers", "orders"}, names
for number in range(1, 8):
    client.create_entity("customers", {"id": f"c{number}", "name": f"Name {number}", "points": number})
    client.create_entity("orders", {"id": f"o{number}", "customerId": f"c{number}", "total": number * 10})

# Pages, filters, orders, counts.
assert [row.get_value("id") for row in client.iter_entities(client.entity_set_uri("customers"))] == [f"c{number}" for number in range(1, 8)]
rows = client.get_entity_set(client.entity_set_uri("customers").filter("points gt 3").orderby("points desc").top(2))
assert [row.get_value("id") for row in rows] == ["c7", "c6"]
assert client.get_count(client.entity_set_uri("customers")) == 7

# A change under its tag, a conflict, a delete.
key = client.entity_uri("customers", "c1")
row = client.get_entity(key)
assert row.etag.startswith('W/"')
client.update_entity(key, {"points": 11}, etag=row.etag)
assert client.get_entity(key).get_value("points") == 11
try:
    client.update_entity(key, {"points": 12}, etag=row.etag)
    raise AssertionError("the tag was stale")
except ODataClientError as error:
    assert "412" in str(error), error
client.delete_entity(client.entity_uri("customers", "c7"))
assert client.get_count(client.entity_set_uri("customers")) == 6

# What has changed since.
first = client.get_raw(client.entity_set_uri("customers"), headers={"Prefer": "odata.track-changes"})
page = first.json()
while "@odata.nextLink" in page:
    page = client.get_raw(page["@odata.nextLink"]).json()
client.update_entity(client.entity_uri("customers", "c2"), {"points": 22})
client.delete_entity(client.entity_uri("customers", "c3"))
delta = client.get_delta(page["@odata.deltaLink"])
assert [row.get_value("id") for row in delta.entities] == ["c2"], delta
assert len(delta.deleted_entities) == 1 and "c3" in delta.deleted_entities[0].id, delta

# Batches in both forms: a change set that refers to what it makes.
for form in ["multipart", "json"]:
    batch = client.batch(format=form)
    changes = batch.add_changeset()
    item = changes.create("customers", {"id": f"b-{form}", "name": "in a batch"})
    changes.create(f"{item.ref}/orders", {"id": f"bo-{form}", "total": 1})
    batch.add_retrieve(f"orders('bo-{form}')")
    answer = client.execute_batch(batch)
    assert answer.is_success, [part.status_code for part in answer]
    assert client.get_entity(client.entity_uri("orders", f"bo-{form}")).get_value("customerId") == f"b-{form}"
