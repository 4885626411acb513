"""Parsing of the parameters in short names."""


def named(text: str, *names: str) -> list[float]:
    """Parse ``"fpr=0.3,tpr=0.6"`` with the names in this order."""
    parts = [part.split("=", 1) for part in text.split(",")]
    if [part[0].strip() for part in parts] != list(names) or any(len(part) != 2 for part in parts):
        wanted = ",".join(f"{name}=NUMBER" for name in names)
        raise ValueError(f"expected {wanted} after the @")
    return [number(value) for _, value in parts]


def span(text: str) -> tuple[float, float]:
    """Parse ``"0.02:0.05"``, or ``"0.05"`` for 0 to 0.05."""
    low, colon, high = text.rpartition(":")
    return (number(low) if colon else 0.0), number(high)


def count_of(text: str) -> int:
    """Parse a number of rows."""
    if not text.isdecimal():
        raise ValueError(f"expected a number of rows after the @, got {text!r}")
    return int(text)


def number(text: str) -> float:
    """Parse a number."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"expected a number, got {text!r}") from None
