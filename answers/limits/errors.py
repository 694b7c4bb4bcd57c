"""How a limit says no."""


class RateLimited(Exception):
    """A question that may not be asked now. Nothing was counted, and no attempt was made.

    `sentence` is for the person; `retry_after` is in seconds.
    """

    def __init__(self, sentence: str, *, retry_after: int):
        super().__init__(sentence)
        self.sentence = sentence
        self.retry_after = retry_after


class BudgetExceeded(Exception):
    """A running attempt needs more tokens than are left for today."""
