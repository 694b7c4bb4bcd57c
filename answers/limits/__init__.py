"""How much a person and a tenant may ask. The only way to count is through here."""

from .attempts import take_place
from .errors import BudgetExceeded, RateLimited
from .tokens import token_budget

__all__ = ["BudgetExceeded", "RateLimited", "take_place", "token_budget"]
