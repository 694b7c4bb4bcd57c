"""Where the data lives: DATABASE_URL, or the embedded server of this checkout."""

from pathlib import Path

from .environment import DATA_DIR, env

# "app" owns nothing and is held by row-level security; "owner" runs migrations only.
DATABASE_ROLE = env.str("PRECEPT_DATABASE_ROLE", default="app")


def _database_url() -> str:
    application_url = env.str("DATABASE_URL", default="")
    if application_url:
        owner_url = env.str("DATABASE_OWNER_URL", default=application_url)
        return owner_url if DATABASE_ROLE == "owner" else application_url
    # Loading settings starts the server when it is down, so that every command works on its own.
    from config.embedded_postgres import ensure_running

    server = ensure_running(data_dir=DATA_DIR)
    return server.owner_url if DATABASE_ROLE == "owner" else server.app_url


DATABASES = {"default": env.db_url_config(_database_url(), engine="django.db.backends.postgresql")}
DATABASES["default"].update(
    {
        # Connections are handed on between requests; tenants.scope resets the tenant at each hand-over.
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "ATOMIC_REQUESTS": False,  # a transaction must never span a model call
    }
)

# Create-only, content-addressed bytes and extracted text.
OBJECT_STORE_DIR = Path(env.str("PRECEPT_OBJECT_STORE_DIR", default=str(DATA_DIR / "objects")))

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "precept_cache",  # sign-in rate limits must hold across processes
    }
}
