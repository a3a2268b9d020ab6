"""The token of an account, from the environment or typed in. It is never stored or printed."""

import os
import sys
from getpass import getpass

from bundle_tools.codabench.server.interface.http import Connection, ServerError
from bundle_tools.errors import BundleError

VARIABLE = "CODABENCH_TOKEN"
SECOND_VARIABLE = "CODABENCH_SECOND_TOKEN"


def log_in(address: str) -> Connection:
    """Connect as the organiser.

    Raises BundleError if there is no token and no terminal, or if the server refuses name and password.
    """
    token = os.environ.get(VARIABLE, "").strip() or _ask(address)
    connection = Connection(address, token)
    if connection.address.startswith("http://") and not _is_here(connection.address):
        sys.stderr.write(f"WARNING: {connection.address} is not https: others on the network can read the token.\n")
    return connection


def second_account(address: str) -> Connection | None:
    """Connect as somebody unrelated to the challenge; None if no such account is given."""
    token = os.environ.get(SECOND_VARIABLE, "").strip()
    return Connection(address, token) if token else None


def _ask(address: str) -> str:
    if not sys.stdin.isatty():
        raise BundleError(
            f"expected the token of your account in {VARIABLE}, found none. Get it from the server: "
            f"curl -d username=NAME -d password=PASSWORD {Connection(address).address}/api/api-token-auth/"
        )
    sys.stderr.write(
        f"Log in at {Connection(address).address} (nothing is stored; set {VARIABLE} to skip this question).\n"
    )
    name = input("User name (empty to give a token): ").strip()
    if not name:
        return getpass("Token: ").strip()
    try:
        answer = Connection(address).post("/api/api-token-auth/", {"username": name, "password": getpass()})
    except ServerError as error:
        raise BundleError(f"{error} Accounts made through another site have no password: use a token.") from None
    return str(answer["token"])


def _is_here(address: str) -> bool:
    host = address.split("://")[1].rpartition(":")[0] or address.split("://")[1]
    return host in {"localhost", "127.0.0.1", "[::1]"}
