"""Arithmetic on an expression tree: never ``eval``, and refused before it can become expensive."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from tools.base import Tool, tool
from tools.failures import ToolError

Number = int | float

_MAX_LENGTH = 2_000
_MAX_DEPTH = 60
_MAX_BITS = 13_000  # about 3 900 digits, below Python's own limit for printing
_TYPOGRAPHY = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "^": "**", "π": "pi"})
_CONSTANTS: dict[str, Number] = {"pi": math.pi, "e": math.e, "tau": math.tau}


class _RefusedError(Exception):
    """The expression cannot be computed; the text says why."""


def calculator_tool() -> Tool:
    def calculate(
        expression: Annotated[str, "e.g. 12*7, (2+3)**4, sqrt(2)*sin(pi/4), 7 // 2, mean(1, 2, 4)"],
    ) -> str:
        """Compute an arithmetic expression. Knows + - * / // % ** and the usual functions; % is modulo."""
        return format_number(evaluate(expression))

    return tool(calculate)


def evaluate(expression: str) -> Number:
    """The value; whole numbers stay exact. Raises ``ToolError`` ``invalid_arguments``."""
    if len(expression) > _MAX_LENGTH:
        raise ToolError(
            "invalid_arguments",
            f"The expression has {len(expression):,} characters; at most {_MAX_LENGTH:,}.",
        )
    try:
        tree = ast.parse(expression.strip().translate(_TYPOGRAPHY), mode="eval")
        return _real(_value(tree.body, 0))
    except SyntaxError as error:
        raise ToolError("invalid_arguments", f"Not an arithmetic expression: {error.msg}.") from None
    except OverflowError:
        raise ToolError("invalid_arguments", "Cannot compute: the result is too large.") from None
    except (_RefusedError, ArithmeticError, ValueError, TypeError) as error:
        raise ToolError("invalid_arguments", f"Cannot compute: {error}.") from None
    except (RecursionError, MemoryError):
        raise ToolError("invalid_arguments", "The expression is nested too deeply.") from None


def format_number(value: Number) -> str:
    """Whole numbers in full, others to 15 significant digits (so that 0.1 + 0.2 is 0.3)."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value) if isinstance(value, int) else f"{value:.15g}"


def _value(node: ast.expr, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        raise _RefusedError("it is nested too deeply")
    match node:
        case ast.Constant(value=bool()):
            raise _RefusedError("True and False are not numbers")
        case ast.Constant(value=int() | float() as number):
            return _within(number)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            inner = _real(_value(operand, depth + 1))
            return -inner if isinstance(sign, ast.USub) else inner
        case ast.BinOp(left=left, op=op, right=right):
            return _apply(op, _real(_value(left, depth + 1)), _real(_value(right, depth + 1)))
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.Name(id=name):
            raise _RefusedError(f"unknown name {name!r}; known: {', '.join(_CONSTANTS)} and functions")
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [_real(_value(part, depth + 1)) for part in parts]
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]):
            return _call(name, [_value(part, depth + 1) for part in parts])
        case _:
            raise _RefusedError(f"{type(node).__name__} is not arithmetic")


def _apply(op: ast.operator, left: Number, right: Number) -> Number:
    match op:
        case ast.Pow():
            return _power(left, right)
        case ast.Mult():
            _expect_bits(_bits(left) + _bits(right))
        case ast.LShift():
            _expect_bits(_bits(left) + int(right))
    apply = _OPERATORS.get(type(op))
    if apply is None:
        raise _RefusedError(f"{type(op).__name__} is not arithmetic")
    return _within(apply(left, right))


def _power(left: Number, right: Number) -> Number:
    if isinstance(left, int) and isinstance(right, int) and right > 0 and abs(left) > 1:
        _expect_bits(_bits(left) * right)
    result = left**right
    if isinstance(result, complex):
        raise _RefusedError("the result is not a real number")
    return _within(result)


def _factorial(n: Number) -> int:
    if n > 1_500:
        raise _RefusedError(f"factorial({n}) is too large")
    return math.factorial(_whole(n))


def _choose(count: Callable[[int, int], int]) -> Callable[[Number, Number], int]:
    def bounded(n: Number, k: Number) -> int:
        _expect_bits(_bits(n) * min(int(k), 2 * _MAX_BITS))
        return count(_whole(n), _whole(k))

    return bounded


def _log(value: Number, base: Number | None = None) -> float:
    return math.log(value) if base is None else math.log(value, base)


def _round(value: Number, digits: Number = 0) -> Number:
    places = _whole(digits)
    if abs(places) > 400:
        raise _RefusedError("round takes at most 400 digits")
    return round(value, places) if places else round(value)


def _whole(value: Number) -> int:
    if value != int(value):
        raise _RefusedError(f"{value} is not a whole number")
    return int(value)


def _of_many(function: Callable[[Sequence[Number]], Number]) -> Callable[..., Number]:
    """Called with a list or with the numbers themselves."""

    def spread(*values: Any) -> Number:
        numbers = values[0] if len(values) == 1 and isinstance(values[0], list) else values
        if not numbers:
            raise _RefusedError("no numbers were given")
        return function([_real(number) for number in numbers])

    return spread


def _median(numbers: Sequence[Number]) -> Number:
    ordered, half = sorted(numbers), len(numbers) // 2
    return ordered[half] if len(numbers) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _call(name: str, values: list[Any]) -> Number:
    function = _FUNCTIONS.get(name)
    if function is None:
        raise _RefusedError(f"unknown function {name!r}; known: {', '.join(sorted(_FUNCTIONS))}")
    return _within(function(*values))


def _real(value: Any) -> Number:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _RefusedError("a list is not a number: put it into sum, mean, min or max")
    return value


def _within(value: Number) -> Number:
    if isinstance(value, float) and not math.isfinite(value):
        raise _RefusedError("the result is too large or undefined")
    _expect_bits(_bits(value))
    return value


def _expect_bits(bits: int) -> None:
    if bits > _MAX_BITS:
        raise _RefusedError(f"the result would have more than {int(_MAX_BITS * 0.30103):,} digits")


def _bits(value: Number) -> int:
    return value.bit_length() if isinstance(value, int) else 0


_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_PLAIN_MATH = (
    "sqrt cbrt exp log2 log10 log1p expm1 sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh "
    "degrees radians floor ceil trunc hypot gcd lcm fabs fmod gamma erf isqrt"
)
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in _PLAIN_MATH.split()},
    "abs": abs,
    "round": _round,
    "log": _log,
    "ln": math.log,
    "pow": _power,
    "factorial": _factorial,
    "comb": _choose(math.comb),
    "perm": _choose(math.perm),
    "min": _of_many(min),
    "max": _of_many(max),
    "sum": _of_many(sum),
    "mean": _of_many(lambda numbers: math.fsum(numbers) / len(numbers)),
    "median": _of_many(_median),
}
