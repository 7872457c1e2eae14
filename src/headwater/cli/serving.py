"""The options of ``headwater serve``; each is an environment variable, too."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer


class Format(str, Enum):
    """How a server writes its log."""

    TEXT = "text"
    JSON = "json"


_SWITCHES = ("--auth", "--index")


def _option(panel: str, name: str, help_: str, **more: Any) -> Any:
    variable = "HEADWATER_" + name.removeprefix("--").replace("-", "_").upper()
    names = [f"{name}/--no-{name.removeprefix('--')}"] if name in _SWITCHES else [name]
    return typer.Option(*names, help=help_, envvar=variable, rich_help_panel=panel, show_default=False, **more)


_LISTEN, _ACCESS, _LIMITS = "Listening", "Access", "Limits"

Host = Annotated[str, _option(_LISTEN, "--host", "The address to listen on; 127.0.0.1 unless given.")]
Port = Annotated[int, _option(_LISTEN, "--port", "The port to listen on; 5000 unless given, 0 for a free one.", min=0)]
Workers = Annotated[int, _option(_LISTEN, "--workers", "So many processes; 1 unless given.", min=1, metavar="N")]
TlsCert = Annotated[Path | None, _option(_LISTEN, "--tls-cert", "Speak HTTPS with this certificate (PEM).")]
TlsKey = Annotated[Path | None, _option(_LISTEN, "--tls-key", "The certificate's private key (PEM).")]
Index = Annotated[
    bool, _option(_LISTEN, "--index", "Keep the current edges in memory: quicker answers, 30 bytes each.")
]
Keep = Annotated[
    str | None,
    _option(_LISTEN, "--keep", "Remove each day what is older, as `headwater prune` does: 90d, 52w.", metavar="TIME"),
]
LogFormat = Annotated[Format, _option(_LISTEN, "--log-format", "Log lines for people, or as JSON.")]

Auth = Annotated[bool, _option(_ACCESS, "--auth", "Ask for a key; needed to listen beyond this machine.")]
OidcIssuer = Annotated[
    str | None, _option(_ACCESS, "--oidc-issuer", "Also believe tokens of this OpenID provider.", metavar="URL")
]
OidcAudience = Annotated[
    str | None, _option(_ACCESS, "--oidc-audience", "The audience that its tokens must have.", metavar="NAME")
]
OidcScopeClaim = Annotated[
    str | None, _option(_ACCESS, "--oidc-scope-claim", "The claim with read, write or admin: scope.", metavar="CLAIM")
]
OidcNamespacesClaim = Annotated[
    str | None,
    _option(_ACCESS, "--oidc-namespaces-claim", "The claim with the namespaces to be seen.", metavar="CLAIM"),
]
CorsOrigin = Annotated[
    list[str] | None, _option(_ACCESS, "--cors-origin", "A site whose pages may ask; repeat for more.", metavar="URL")
]
Hosts = Annotated[
    list[str] | None,
    _option(_ACCESS, "--hosts", "A name that the server is called by; repeat for more.", metavar="NAME"),
]
TrustedProxy = Annotated[
    list[str] | None,
    _option(_ACCESS, "--trusted-proxy", "A proxy that says who asks; repeat for more.", metavar="ADDRESS|NETWORK"),
]
ProxyUserHeader = Annotated[
    str | None,
    _option(_ACCESS, "--proxy-user-header", "The header in which it says so: X-Forwarded-User.", metavar="NAME"),
]
ProxyScope = Annotated[
    str | None, _option(_ACCESS, "--proxy-scope", "What its users may do: read, write or admin; read.", metavar="SCOPE")
]
ProxyNamespacesHeader = Annotated[
    str | None,
    _option(_ACCESS, "--proxy-namespaces-header", "The header with the namespaces to be seen.", metavar="NAME"),
]

Rate = Annotated[
    str | None, _option(_LIMITS, "--rate", "So many requests of one caller, such as 600/minute.", metavar="RATE")
]
BodyLimit = Annotated[
    int | None, _option(_LIMITS, "--body-limit", "So many bytes in a request, unpacked.", min=1, metavar="BYTES")
]
MemoryLimit = Annotated[
    int | None,
    _option(_LIMITS, "--memory-limit", "So many bytes for all bodies at once, parsed.", min=1, metavar="BYTES"),
]
EventsLimit = Annotated[
    int | None, _option(_LIMITS, "--events-limit", "So many events in a request.", min=1, metavar="N")
]
DepthLimit = Annotated[int | None, _option(_LIMITS, "--depth-limit", "So many steps in a graph.", min=1, metavar="N")]
NodeLimit = Annotated[int | None, _option(_LIMITS, "--node-limit", "So many columns in a graph.", min=1, metavar="N")]
TimeLimit = Annotated[
    float | None, _option(_LIMITS, "--time-limit", "So many seconds for an answer.", min=0.1, metavar="SECONDS")
]
WaitingLimit = Annotated[
    int | None,
    _option(_LIMITS, "--waiting-limit", "So many requests whose events wait to be written.", min=1, metavar="N"),
]
ConnectionLimit = Annotated[
    int,
    _option(
        _LIMITS, "--connection-limit", "So many connections of each process; 1,000 unless given.", min=1, metavar="N"
    ),
]
