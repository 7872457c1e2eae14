"""The rate limit of callers: a moving window, counted in this process."""

import math
import time

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.exceptions import HTTPException

from headwater.errors import SettingError


class RateLimit:
    """The rate limit, by caller.

    Args:
        rate: as the package limits writes it, ``"600/minute"``; empty for no limit.

    Raises:
        SettingError: the rate cannot be parsed.
    """

    def __init__(self, rate: str) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._most = _parsed(rate) if rate else None

    def require(self, caller: str) -> None:
        """Count a request.

        Raises:
            HTTPException: 429 with Retry-After, when the caller sent too many.
        """
        if self._most is None or self._limiter.hit(self._most, caller):
            return
        free_at = self._limiter.get_window_stats(self._most, caller).reset_time
        seconds = max(1, math.ceil(free_at - time.time()))
        raise HTTPException(
            429,
            f"{caller} has sent more than {self._most}: try again in {seconds} s.",
            {"Retry-After": str(seconds)},
        )


def _parsed(rate: str) -> RateLimitItem:
    try:
        return parse(rate)
    except ValueError as fault:
        raise SettingError(f"The rate is {rate!r}: expected one such as 600/minute. Correct --rate.") from fault
