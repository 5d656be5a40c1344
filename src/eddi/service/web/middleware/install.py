"""Adds the middleware to the application.

The order matters. Outermost is `LoadShedding`, because its refusals must cost little. In `HeadRequests`,
everything else sees a GET request. `RequestId`, `AccessLog` and `SecurityHeaders` apply to every other
response, including refusals. `HtmlErrors` translates errors for browsers, also those of `InternalErrors`;
those of FHIR routes are for programs, so `FhirErrors` comes first.
Innermost are the checks that may refuse a request.
"""

from fastapi import FastAPI

from eddi.service.interviews.metrics import Metrics
from eddi.service.settings import Settings
from eddi.service.web.middleware.access_log import AccessLog
from eddi.service.web.middleware.body_limit import BodyLimit
from eddi.service.web.middleware.fhir_errors import FhirErrors
from eddi.service.web.middleware.head_requests import HeadRequests
from eddi.service.web.middleware.html_errors import HtmlErrors
from eddi.service.web.middleware.internal_errors import InternalErrors
from eddi.service.web.middleware.load_shedding import LoadShedding
from eddi.service.web.middleware.rate_limit import RateLimit
from eddi.service.web.middleware.request_id import RequestId
from eddi.service.web.middleware.same_origin import SameOrigin
from eddi.service.web.middleware.security_headers import SecurityHeaders
from eddi.service.web.middleware.trusted_hosts import TrustedHosts


def install_middleware(app: FastAPI, settings: Settings, metrics: Metrics) -> None:
    """Add all middleware to ``app``."""
    # The middleware that is added last is the outermost.
    app.add_middleware(RateLimit, rate=settings.rate, burst=settings.burst)
    app.add_middleware(BodyLimit, max_body=settings.max_body, max_upload=settings.max_upload)
    app.add_middleware(SameOrigin)
    app.add_middleware(TrustedHosts, names=settings.host_names)
    app.add_middleware(InternalErrors)
    app.add_middleware(FhirErrors)
    app.add_middleware(HtmlErrors)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(AccessLog, metrics=metrics)
    app.add_middleware(RequestId)
    app.add_middleware(HeadRequests)
    app.add_middleware(LoadShedding, max_wait_s=settings.max_wait, metrics=metrics)
