"""The middleware around all routes, one module each."""

from eddi.service.web.middleware.install import install_middleware

__all__ = ["install_middleware"]
