"""The pages of respondents. They need no scripts."""

from eddi.service.web.respondent.routes import router as router
