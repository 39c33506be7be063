"""Nothing is sent to another machine: Python reports such calls, and they are refused."""

import ipaddress
import socket
import sys

_CALLS = ("socket.connect", "socket.sendto", "socket.sendmsg")
_NAMES = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")


def is_here(host):
    """Whether a host is this machine; names other than localhost would be looked up elsewhere."""
    if host in (None, "", b"", "localhost", socket.gethostname()):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _refuse(event, arguments, calls=_CALLS, names=_NAMES):  # globals vanish before the hook
    if event in calls:
        sock, address = arguments[0], arguments[-1]
        is_local = sock.family not in (socket.AF_INET, socket.AF_INET6)
        # To connect a socket for datagrams sends nothing; Dask finds out its own address by that.
        is_silent = event == "socket.connect" and sock.type == socket.SOCK_DGRAM
        is_connected = address is None
        _require(is_local or is_silent or is_connected or is_here(address[0]), address)
    elif event in names:
        host = arguments[0]
        _require(is_here(host) or _is_number(host), host)


def _is_number(host):
    """Whether a host is an address, which nobody has to be asked for."""
    try:
        return bool(ipaddress.ip_address(host))
    except ValueError:
        return False


def _require(allowed, what):
    if not allowed:
        raise PermissionError(f"the tests have no network: {what!r} was asked for")


def block():
    """Refuse from now on, in this process, whoever asks."""
    sys.addaudithook(_refuse)
