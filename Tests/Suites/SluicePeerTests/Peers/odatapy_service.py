"""A small OData v4 service on odatapy: customers with entity tags, orders whose keys it assigns, pages of three rows."""

import sys
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from odatapy.edm.csdl import (
    CsdlAbstractEdmProvider, CsdlAnnotation, CsdlEntityContainer, CsdlEntitySet, CsdlEntityType, CsdlProperty,
    CsdlPropertyRef, CsdlSchema,
)
from odatapy.server.adapters.wsgi import ODataWSGIApp
from odatapy.server.inmemory import InMemoryDataStore, InMemoryProcessor
from odatapy.server.odata import OData
from odatapy.server.processor import CustomETagSupport


class Provider(CsdlAbstractEdmProvider):
    def get_schemas(self):
        customer = CsdlEntityType(
            name="Customer", key=[CsdlPropertyRef("ID")],
            properties=[
                CsdlProperty("ID", "Edm.Int32", nullable=False), CsdlProperty("Name", "Edm.String"),
                CsdlProperty("Country", "Edm.String"), CsdlProperty("Balance", "Edm.Decimal", precision=28, scale=4),
                CsdlProperty("Big", "Edm.Int64"), CsdlProperty("Since", "Edm.DateTimeOffset", precision=3),
            ])
        order = CsdlEntityType(
            name="Order", key=[CsdlPropertyRef("ID")],
            properties=[
                CsdlProperty("ID", "Edm.Int32", nullable=False), CsdlProperty("Note", "Edm.String"),
                CsdlProperty("Ref", "Edm.String"),
            ])
        container = CsdlEntityContainer(
            name="Container",
            entity_sets=[CsdlEntitySet("Customers", "Demo.Customer"), CsdlEntitySet("Orders", "Demo.Order")])
        return [CsdlSchema(namespace="Demo", entity_types=[customer, order], entity_container=container)]


class Tags(CustomETagSupport):
    def has_etag(self, entity_set):
        return getattr(entity_set, "name", entity_set) == "Customers"


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Quiet(WSGIRequestHandler):
    def log_message(self, *arguments):
        pass


odata = OData.new_instance()
handler = odata.create_handler(odata.create_service_metadata(Provider()))
store = InMemoryDataStore()
store.declare_key_auto_generating("Orders")
handler.register(InMemoryProcessor(store, page_size=3))
handler.register(Tags())
with make_server("127.0.0.1", int(sys.argv[1]), ODataWSGIApp(handler), Server, Quiet) as server:
    server.serve_forever()
