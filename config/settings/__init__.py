"""Settings, one module per concern. Every value is read from the environment once, here."""

from .apps import *  # noqa: F403
from .database import *  # noqa: F403
from .http import *  # noqa: F403
from .limits import *  # noqa: F403
from .observability import *  # noqa: F403
from .processors import *  # noqa: F403
from .queue import *  # noqa: F403
from .security import *  # noqa: F403
