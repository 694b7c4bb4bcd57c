"""How much a person and a tenant may ask. The only way to count is through here."""

from .attempts import Place, give_back, take_place
from .errors import BudgetExceeded, RateLimited
from .tokens import token_budget

__all__ = ["BudgetExceeded", "Place", "RateLimited", "give_back", "take_place", "token_budget"]
