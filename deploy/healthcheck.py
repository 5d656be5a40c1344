"""Exit with 0 if the server of this machine is ready, for the health check of a container.

The request carries a name of the server, because others are refused (EDDI_HOSTS).
"""

import http.client
import os
import sys

TIMEOUT_S = 5


def main() -> int:
    """Return the exit code."""
    name = os.environ.get("EDDI_HOSTS", "").split(",")[0].strip() or "localhost"
    port = int(os.environ.get("EDDI_PORT", "8000"))
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", "/readyz", headers={"Host": "localhost" if name == "*" else name})
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        sys.stderr.write(f"not ready: {error}\n")
        return 1
    finally:
        connection.close()
    return 0 if status == http.client.OK else 1


if __name__ == "__main__":
    sys.exit(main())
