"""The web server's face: hosts, static files, the REST API."""

from .environment import BASE_DIR, DATA_DIR, env, positive_int

PORT = positive_int("PRECEPT_PORT", default=8000)
ALLOWED_HOSTS = env.list("PRECEPT_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("PRECEPT_TRUSTED_ORIGINS", default=[])

# How people reach Precept; stands in e-mails.
PUBLIC_URL = env.str("PRECEPT_PUBLIC_URL", default=f"http://127.0.0.1:{PORT}").rstrip("/")
# Where e-mail is handed over, such as smtp+tls://user:password@mail.example:587; empty: none is sent.
_EMAIL_URL = env.str("PRECEPT_EMAIL_URL", default="")
EMAIL_IS_ON = bool(_EMAIL_URL)
vars().update(env.email_url_config(_EMAIL_URL or "dummymail://"))
DEFAULT_FROM_EMAIL = env.str("PRECEPT_EMAIL_FROM", default="precept@localhost")
EMAIL_TIMEOUT = 20

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = DATA_DIR / "static"
STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # whitenoise warns about a folder that is not there
WHITENOISE_USE_FINDERS = True
APPEND_SLASH = True

MAX_UPLOAD_BYTES = positive_int("PRECEPT_MAX_UPLOAD_MB", default=20) * 1024 * 1024
# Forms and JSON stay small; uploaded files are bounded by MAX_UPLOAD_BYTES in the upload service.
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

MAX_QUESTION_CHARACTERS = positive_int("PRECEPT_MAX_QUESTION_CHARACTERS", default=1000)
# How often a stream that has nothing to say shows proxies, and its own record, that it is there.
STREAM_KEEPALIVE_SECONDS = positive_int("PRECEPT_STREAM_KEEPALIVE_SECONDS", default=5)

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "tenants.authentication.BearerAuthentication",
        "tenants.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticated",
        "tenants.authentication.TokenScope",
    ],
    "DEFAULT_RENDERER_CLASSES": ["tenants.camel_case.CamelCaseJSONRenderer"],
    "URL_FORMAT_OVERRIDE": None,
    "DEFAULT_PARSER_CLASSES": [
        "tenants.camel_case.CamelCaseJSONParser",
    ],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "tenants.api.problem_handler",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Precept",
    "DESCRIPTION": "Permission-aware policy answers with exact quotes.",
    "VERSION": "1",
    "SCHEMA_PATH_PREFIX": r"/v1/",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "COMPONENT_SPLIT_REQUEST": True,
    "CAMELIZE_NAMES": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "tenants.openapi.camelize_schema",
        "tenants.openapi.describe_refusals",
    ],
}
