#include "cfloor.h"

#include <postgresql/libpq-fe.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "output.h"

// What the backend sends for a page of changes after a token, and for an insert, on connections that send nothing else.
#define RECORD                                                                                                       \
    "\"id\", \"title\", \"quantity\", \"price\", \"active\", (extract(epoch FROM \"createdAt\") * 1000000)::bigint, " \
    "(extract(epoch FROM \"updatedAt\") * 1000000)::bigint, \"version\", \"deleted\", \"_extra\", \"_absent\""

static const char *const statements[][2] = {
    {"identity", "SELECT value FROM sluice_identity"},
    {"latest", "SELECT latest, removed FROM sluice_tables WHERE name = $1"},
    {"epoch",
     "SELECT coalesce((SELECT later.began FROM sluice_runs AS later WHERE later.run > own.run ORDER BY later.run LIMIT 1), "
     "(SELECT value FROM sluice_counter)) FROM sluice_runs AS own WHERE own.epoch = $1::bigint"},
    {"page",
     "SELECT " RECORD " FROM \"items\" WHERE ((\"updatedAt\" > $1) AND ((\"deleted\" = $2) OR (\"updatedAt\" > $3))) "
     "ORDER BY \"updatedAt\" NULLS FIRST, \"id\" LIMIT 100 OFFSET 0"},
    {"properties", "SELECT property FROM sluice_properties WHERE name = $1"},
    {"point", "SELECT epoch, value FROM sluice_runs, sluice_counter ORDER BY run DESC LIMIT 1"},
    {"record", "SELECT " RECORD " FROM \"items\" WHERE \"id\" = $1"},
    {"times", "SELECT name, latest FROM sluice_tables"},
    {"put",
     "INSERT INTO \"items\" (\"id\", \"title\", \"quantity\", \"price\", \"active\", \"createdAt\", \"updatedAt\", "
     "\"version\", \"deleted\", \"_extra\", \"_absent\") VALUES ($1, $2, $3, $4, $5, now(), now(), $6, $7, $8, $9) "
     "ON CONFLICT (\"id\") DO UPDATE SET \"title\" = excluded.\"title\""},
};

typedef struct {
    const char *url;
    long number, count;
    bool inserts;
    long rows;
    char reason[200];
    pthread_t thread;
} worker;

static bool fail(worker *self, PGconn *connection) {
    if (!self->reason[0]) snprintf(self->reason, sizeof self->reason, "%s", PQerrorMessage(connection));
    return false;
}

// Runs statements that give nothing that is looked at.
static bool run(worker *self, PGconn *connection, const char *sql) {
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || fail(self, connection);
}

static PGresult *query(worker *self, PGconn *connection, const char *name, int count, const char *const *values) {
    PGresult *result = PQexecPrepared(connection, name, count, values, NULL, NULL, 0);
    if (PQresultStatus(result) == PGRES_TUPLES_OK || PQresultStatus(result) == PGRES_COMMAND_OK) return result;
    fail(self, connection);
    PQclear(result);
    return NULL;
}

static bool skim(worker *self, PGconn *connection, const char *name, int count, const char *const *values) {
    PGresult *result = query(self, connection, name, count, values);
    PQclear(result);
    return result != NULL;
}

// Microseconds since 1970 as an ISO 8601 text of milliseconds.
static void append_time(output *to, const char *text) {
    long long micros = atoll(text);
    time_t seconds = micros / 1000000;
    struct tm parts;
    gmtime_r(&seconds, &parts);
    char buffer[64];
    int length = snprintf(
        buffer, sizeof buffer, "\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\"", parts.tm_year + 1900, parts.tm_mon + 1,
        parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, (int)(micros / 1000 % 1000));
    output_append(to, buffer, (size_t)length);
}

static void append_row(output *to, PGresult *rows, int row) {
    static const struct {
        const char *name;
        int column;
    } shown[] = {{"{\"id\":", 0},        {",\"title\":", 1},     {",\"quantity\":", 2}, {",\"price\":", 3},
                 {",\"active\":", 4},    {",\"updatedAt\":", 6}, {",\"version\":", 7},  {",\"deleted\":", 8}};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        int column = shown[i].column;
        const char *text = PQgetvalue(rows, row, column);
        output_append(to, shown[i].name, strlen(shown[i].name));
        if (PQgetisnull(rows, row, column)) {
            output_append(to, "null", 4);
        } else if (column == 6) {
            append_time(to, text);
        } else if (column == 4 || column == 8) {
            output_append(to, *text == 't' ? "true" : "false", *text == 't' ? 4 : 5);
        } else if (column == 2 || column == 3) {
            output_append(to, text, (size_t)PQgetlength(rows, row, column));
        } else {
            output_append_string(to, text, (size_t)PQgetlength(rows, row, column));
        }
    }
    output_append(to, "}", 1);
}

static bool page(worker *self, PGconn *connection, output *to, const char *after, const char *epoch, const char *newest) {
    const char *const table[] = {"items"}, *const run_of[] = {epoch}, *const range[] = {after, "f", newest};
    bool done = run(self, connection,
                    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 30000; "
                    "SET LOCAL idle_in_transaction_session_timeout = 10000") &&
                skim(self, connection, "identity", 0, NULL) && skim(self, connection, "latest", 1, table) &&
                skim(self, connection, "epoch", 1, run_of);
    PGresult *rows = done ? query(self, connection, "page", 3, range) : NULL;
    if (!rows) return false;
    to->length = 0;
    output_append(to, "[", 1);
    for (int row = 0; row < PQntuples(rows); row++) {
        if (row > 0) output_append(to, ",", 1);
        append_row(to, rows, row);
    }
    output_append(to, "]", 1);
    self->rows += PQntuples(rows);
    PQclear(rows);
    return skim(self, connection, "properties", 1, table) && skim(self, connection, "point", 0, NULL) &&
           run(self, connection, "COMMIT");
}

static bool insert(worker *self, PGconn *connection, long number) {
    char id[64];
    snprintf(id, sizeof id, "c%ld-%ld-%d", self->number, number, PQbackendPID(connection));
    const char *const key[] = {id}, *const table[] = {"items"};
    const char *const values[] = {id, "Buy milk", "3", "1.5", "t", id, "f", NULL, NULL};
    self->rows++;
    return run(self, connection,
               "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 30000; "
               "SET LOCAL idle_in_transaction_session_timeout = 10000; SET LOCAL lock_timeout = 10000; "
               "SELECT value FROM sluice_counter FOR UPDATE; "
               "INSERT INTO sluice_processes (id, attempt) VALUES ('floor', 1) "
               "ON CONFLICT (id) DO UPDATE SET attempt = excluded.attempt, seen = now()") &&
           skim(self, connection, "record", 1, key) && skim(self, connection, "times", 0, NULL) &&
           skim(self, connection, "point", 0, NULL) && skim(self, connection, "put", 9, values) &&
           skim(self, connection, "properties", 1, table) &&
           run(self, connection,
               "UPDATE sluice_counter SET value = value + 1; "
               "UPDATE sluice_tables SET latest = latest + 1 WHERE name = 'items'; "
               "SELECT pg_notify('sluice_commits', ''); SET LOCAL statement_timeout = 0; "
               "SELECT epoch, value FROM sluice_runs, sluice_counter ORDER BY run DESC LIMIT 1; COMMIT");
}

static char *single(worker *self, PGconn *connection, const char *sql) {
    PGresult *result = PQexec(connection, sql);
    char *value = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) > 0 ? strdup(PQgetvalue(result, 0, 0))
                                                                                     : NULL;
    if (!value) fail(self, connection);
    PQclear(result);
    return value;
}

static void *work(void *argument) {
    worker *self = argument;
    PGconn *connection = PQconnectdb(self->url);
    bool done = PQstatus(connection) == CONNECTION_OK || fail(self, connection);
    for (size_t i = 0; done && i < sizeof statements / sizeof *statements; i++) {
        PGresult *result = PQprepare(connection, statements[i][0], statements[i][1], 0, NULL);
        done = PQresultStatus(result) == PGRES_COMMAND_OK || fail(self, connection);
        PQclear(result);
    }
    char *epoch = done ? single(self, connection, "SELECT epoch FROM sluice_runs ORDER BY run DESC LIMIT 1") : NULL;
    char *newest = done ? single(self, connection, "SELECT max(\"updatedAt\") FROM items") : NULL;
    output to = {NULL, 0, 0};
    if (epoch && newest) {
        PGresult *times = PQexec(connection, "SELECT t FROM (SELECT \"updatedAt\" AS t, row_number() OVER (ORDER BY "
                                             "\"updatedAt\") AS n FROM items) AS numbered WHERE n % 100 = 0");
        int count = PQntuples(times);
        for (long i = 0; done && i < self->count; i++) {
            done = self->inserts ? insert(self, connection, i)
                                 : page(self, connection, &to, PQgetvalue(times, (int)(i % (count - 1)), 0), epoch, newest);
        }
        PQclear(times);
    }
    free(to.data);
    free(epoch);
    free(newest);
    PQfinish(connection);
    return NULL;
}

long cfloor_postgres(const char *url, long inserts, long count, long width, char *reason, size_t capacity) {
    worker *workers = calloc((size_t)width, sizeof *workers);
    long rows = 0;
    for (long i = 0; i < width; i++) {
        workers[i] = (worker){.url = url, .number = i, .count = count / width, .inserts = inserts != 0};
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (long i = 0; i < width; i++) {
        pthread_join(workers[i].thread, NULL);
        if (workers[i].reason[0] && rows >= 0) {
            snprintf(reason, capacity, "%s", workers[i].reason);
            rows = -1;
        }
        if (rows >= 0) rows += workers[i].rows;
    }
    free(workers);
    return rows;
}
