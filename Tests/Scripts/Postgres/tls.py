"""TLS to the database, with certificates of an authority made for the test: the right name by the right authority is let in,
and nothing else is, whatever the server offers instead.

    tls.py SLUICE
"""
import os
import socket
import subprocess
import sys
import tempfile
import threading

from cluster import fail
from servers import AS, FOLDER, Server, run


def openssl(*arguments):
    run("openssl", *arguments)


def certificates():
    """Two authorities, and a certificate for `localhost` by the first."""
    for name in ("ca", "other"):
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN=Test {name}",
                "-keyout", f"{FOLDER}/{name}.key", "-out", f"{FOLDER}/{name}.crt")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",
            "-keyout", f"{FOLDER}/server.key", "-out", f"{FOLDER}/server.csr")
    extensions = f"{FOLDER}/extensions"
    subprocess.run([*AS, "tee", extensions], input=b"subjectAltName=DNS:localhost\n", stdout=subprocess.DEVNULL, check=True)
    openssl("x509", "-req", "-in", f"{FOLDER}/server.csr", "-CA", f"{FOLDER}/ca.crt", "-CAkey", f"{FOLDER}/ca.key",
            "-CAcreateserial", "-days", "2", "-extfile", extensions, "-out", f"{FOLDER}/server.crt")
    run("chmod", "600", f"{FOLDER}/server.key")


class Refuser(threading.Thread):
    """Says to whoever asks for TLS that it has none, and keeps what is sent to it all the same."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.heard = b""

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            connection.settimeout(2)
            try:
                # The request for TLS has 8 bytes.
                connection.recv(8)
                connection.sendall(b"N")
                self.heard += connection.recv(4096)
            except OSError:
                pass
            connection.close()


class Attempt:
    def __init__(self, sluice, url):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("database: postgres:$SLUICE_DATABASE\ntables:\n  t: {}\n")
            file.flush()
            process = subprocess.Popen(
                [sluice, "serve", "--config", file.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env={**os.environ, "SLUICE_DATABASE": url})
            self.isServed = "listening" in process.stdout.readline()
            process.terminate()
            self.error = process.communicate()[1]


def play(sluice):
    certificates()
    server = Server("tls")
    server.make()
    server.options = f"-c ssl=on -c ssl_cert_file={FOLDER}/server.crt -c ssl_key_file={FOLDER}/server.key"
    # Without TLS nobody is let in, and with it by a password.
    rules = "hostssl all all 127.0.0.1/32 scram-sha-256\nhostssl all all ::1/128 scram-sha-256\nlocal all all trust\n"
    subprocess.run([*AS, "tee", f"{server.data}/pg_hba.conf"], input=rules.encode(), stdout=subprocess.DEVNULL, check=True)
    server.start()
    refuser = Refuser()
    refuser.start()
    try:
        subprocess.run(
            ["psql", "-qAt", f"postgres://sluice@/postgres?host={FOLDER}&port={server.port}", "-c",
             "ALTER ROLE sluice PASSWORD 's3cret-of-tls'"], check=True)
        user, rest = "postgres://sluice:s3cret-of-tls@", f"{server.port}/postgres"
        ca, other = f"sslrootcert={FOLDER}/ca.crt", f"sslrootcert={FOLDER}/other.crt"
        cases = [
            ("the right name and authority", f"{user}localhost:{rest}?sslmode=verify-full&{ca}", None),
            ("a wrong name", f"{user}127.0.0.1:{rest}?sslmode=verify-full&{ca}", "certificate"),
            ("another authority", f"{user}localhost:{rest}?sslmode=verify-full&{other}", "certificate"),
            ("a name elsewhere, with nothing said of TLS", f"{user}db.test:{rest}?hostaddr=127.0.0.1", "certificate"),
            ("a name elsewhere and its own authority", f"{user}db.test:{rest}?hostaddr=127.0.0.1&{ca}", "certificate"),
            ("an authority that is not there", f"{user}localhost:{rest}?sslmode=verify-full&sslrootcert=/none", "certificate"),
            ("a server that says it has no TLS", f"{user}localhost:{refuser.port}/postgres?sslmode=verify-full&{ca}", "SSL"),
            ("the same elsewhere", f"{user}db.test:{refuser.port}/postgres?hostaddr=127.0.0.1", "SSL"),
        ]
        for name, url, says in cases:
            attempt = Attempt(sluice, url)
            if "s3cret" in attempt.error:
                fail(name, "shows the password:", attempt.error)
            if says is None and not attempt.isServed:
                fail(name, "is not let in:", attempt.error)
            if says is not None and (attempt.isServed or says not in attempt.error):
                fail(name, "is served" if attempt.isServed else f"is refused without a word on {says}: {attempt.error}")
            print(f"{name}: {'served' if attempt.isServed else attempt.error.strip()}", flush=True)
        if refuser.heard:
            fail("the server without TLS was told", refuser.heard)
    finally:
        server.stop()
    return True


sys.exit(0 if play(os.path.realpath(sys.argv[1])) else 1)
