// Microsoft's client for v2 (System.Data.Services.Client), which knows Atom alone, reads the tables of a backend:
// mono mono_client.exe http://127.0.0.1:PORT
using System;
using System.Collections.Generic;
using System.Data.Services.Client;
using System.Data.Services.Common;
using System.Linq;
using System.Net;
using System.Text;

[DataServiceKey("id")]
public class Customer {
    public string id { get; set; }
    public string name { get; set; }
    public string country { get; set; }
    public long? points { get; set; }
    public double? rate { get; set; }
    public bool? active { get; set; }
    public DateTime? since { get; set; }
    public List<Order> orders { get; set; }
}

[DataServiceKey("id")]
public class Order {
    public string id { get; set; }
    public string customerId { get; set; }
    public long? total { get; set; }
    public Customer customer { get; set; }
}

public static class Program {
    static void Check(bool isRight, string what) { if (!isRight) throw new Exception("not so: " + what); }

    static void Make(string root, string set, string json) {
        var request = (HttpWebRequest)WebRequest.Create(root + "/" + set);
        request.Method = "POST";
        request.ContentType = "application/json";
        var bytes = Encoding.UTF8.GetBytes(json);
        request.ContentLength = bytes.Length;
        using (var stream = request.GetRequestStream()) stream.Write(bytes, 0, bytes.Length);
        using (var response = (HttpWebResponse)request.GetResponse()) Check(response.StatusCode == HttpStatusCode.Created, json);
    }

    static DataServiceContext Context(string root) {
        return new DataServiceContext(new Uri(root)) { IgnoreMissingProperties = true };
    }

    public static void Main(string[] arguments) {
        var root = arguments[0] + "/odata/v2";
        Make(root, "customers",
            "{\"id\":\"o'neil\",\"name\":\"O'Neil & <Söhne>\",\"country\":\"US\",\"points\":\"9007199254740993\",\"rate\":0.5,"
            + "\"active\":true,\"since\":\"/Date(1714979289000)/\"}");
        for (var n = 1; n < 8; n++) {
            Make(root, "customers", "{\"id\":\"c" + n + "\",\"name\":\"Name " + n + "\",\"country\":\"DE\",\"points\":\"" + n + "\"}");
            Make(root, "orders", "{\"id\":\"o" + n + "\",\"customerId\":\"c" + n + "\",\"total\":\"" + n * 10 + "\"}");
        }

        var context = Context(root);
        var customers = context.CreateQuery<Customer>("customers");

        // By key: quotes, whole numbers of 64 bits, times and nulls are as they were.
        var one = customers.Where(c => c.id == "o'neil").Single();
        Check(one.name == "O'Neil & <Söhne>" && one.points == 9007199254740993 && one.rate == 0.5 && one.active == true, "values");
        Check(one.since.Value == new DateTime(2024, 5, 6, 7, 8, 9), "time " + one.since);
        Check(context.GetEntityDescriptor(one).ETag.StartsWith("W/\""), "tag");
        Check(customers.Where(c => c.id == "c1").Single().rate == null, "null");

        // A filter, an order, a part, counts.
        var found = customers.Where(c => c.name.StartsWith("Name") && c.points > 3 && !c.name.Contains("6"))
            .OrderByDescending(c => c.points).Select(c => c).ToList();
        Check(string.Join(" ", found.Select(c => c.id)) == "c7 c5 c4", "filter");
        var part = customers.Where(c => c.country == "DE").OrderBy(c => c.id).Skip(2).Take(2).ToList();
        Check(string.Join(" ", part.Select(c => c.id)) == "c3 c4", "part");
        Check(customers.Count() == 8, "count");
        var counted = (QueryOperationResponse<Customer>)customers.IncludeTotalCount().Execute();
        counted.ToList();
        Check(counted.TotalCount == 8, "inline count");
        var chosen = Context(root).CreateQuery<Customer>("customers").Where(c => c.id == "c2").Select(c => new Customer { id = c.id, points = c.points }).Single();
        Check(chosen.points == 2 && chosen.name == null, "selection");

        // Page after page.
        var ids = new List<string>();
        var page = (QueryOperationResponse<Customer>)customers.Execute();
        while (true) {
            var rows = page.ToList();
            Check(rows.Count <= 3, "page");
            ids.AddRange(rows.Select(c => c.id));
            var next = page.GetContinuation();
            if (next == null) break;
            page = context.Execute(next);
        }
        Check(ids.Count == 8 && ids.Distinct().Count() == 8, "pages");

        // Navigation and expansion.
        var order = Context(root).CreateQuery<Order>("orders").Expand("customer").Where(o => o.id == "o2").Single();
        Check(order.customer.name == "Name 2", "expansion to one");
        var owner = Context(root).CreateQuery<Customer>("customers").Expand("orders").Where(c => c.id == "c3").Single();
        Check(owner.orders.Single().total == 30, "expansion to many");
        var reader = Context(root);
        var plain = reader.CreateQuery<Order>("orders").Where(o => o.id == "o4").Single();
        reader.LoadProperty(plain, "customer");
        Check(plain.customer.id == "c4", "navigation");

        // What is not there, and what cannot be asked.
        try {
            Context(root).CreateQuery<Customer>("customers").Where(c => c.id == "none").Single();
            Check(false, "a row that is not there");
        } catch (DataServiceQueryException error) { Check(error.Response.StatusCode == 404, "404"); }
        Console.WriteLine("read by Microsoft's client for v2");
    }
}
