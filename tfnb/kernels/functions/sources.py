"""The sources of a specialized kernel function: a range of items on the CPU, a grid-stride loop on a GPU.

    cpu_source(specialized, types, settings)    `kernel(args, begin, end)`, as cpu/codegen.py compiles it
    cuda_source(specialized)                    `kernel(...)` over arrays and integers, as cuda/device.py does

On the CPU an argument block has a word for each parameter, in order; several integers have a word each; the address of
the status words is the last one, of a kernel that may fail. On a GPU the number of items follows.
"""
from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping, Sequence

from tfnb.kernels.functions.specialize_expressions import Specialized
from tfnb.kernels.llvm.intrinsics import NAMES
from tfnb.kernels.scalar.primitives import PRIMITIVES


def _call(name: str, *args: ast.expr) -> ast.expr:
    function: ast.expr = ast.Name(name, ast.Load())
    if "." in name:
        module, _, attr = name.partition(".")
        function = ast.Attribute(ast.Name(module, ast.Load()), attr, ast.Load())
    return ast.Call(function, list(args), [])


def _operator(name: str, args: Sequence[ast.expr]) -> ast.expr | None:
    """Return a primitive as Python's operator, or None."""
    sign = PRIMITIVES[name].operator
    if not sign or sign == "abs":
        return _call("abs", *args) if sign else None
    text = f"{sign}_0" if len(args) == 1 else f"_0 {sign} _1"
    made = ast.parse(text, mode="eval").body
    return _placed(made, args)


class _Places(ast.NodeTransformer):
    """Puts operands in."""

    def __init__(self, args: Sequence[ast.expr]) -> None:
        self.args = args

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the operand of a name such as _0."""
        return self.args[int(node.id[1:])]


def _placed(form: ast.expr, args: Sequence[ast.expr]) -> ast.expr:
    """Return an expression with `args` in place of _0, _1..."""
    made: ast.expr = _Places(args).visit(form)
    return made


# Primitives that are no functions of `math` on a GPU, over operands of any one type.
_CUDA_FORMS = {"where": "_1 if _0 else _2", "maximum": "_0 if _0 > _1 or _0 != _0 else _1", "square": "_0 * _0",
               "minimum": "_0 if _0 < _1 or _0 != _0 else _1", "isnan": "_0 != _0", "logical_not": "not _0",
               "logical_and": "_0 and _1", "logical_or": "_0 or _1"}


class _Cpu:
    """The body of a kernel on the CPU: elements of bool arrays are bytes."""

    slices = True

    def element(self, type: str) -> str:
        """Return the name of an element type in the source."""
        return "uint8" if type == "bool" else type

    def primitive(self, name: str, args: list[ast.expr]) -> ast.expr | None:
        """Return the expression of a primitive, or None if the device has no form of it."""
        if name in NAMES:
            return _call(name, *args)
        library = PRIMITIVES[name].libm
        return _call(f"math.{library}", *args) if library else _operator(name, args)

    def array_at(self, address: ast.expr, type: str) -> ast.expr | None:
        """Return an array that begins at an address, or None where there are none."""
        return _call(f"{self.element(type)}_array", address, ast.Constant(0))

    def stream(self, target: ast.expr, source: ast.expr, count: ast.expr) -> ast.stmt | None:
        """Return the statement that stores a row past the caches, or None where there is none."""
        end = ast.Subscript(target, ast.Slice(count), ast.Load())
        nbytes = ast.BinOp(_call("address_of", end), ast.Sub(), _call("address_of", target))
        return ast.Expr(_call("stream_row", _call("address_of", target), _call("address_of", source), nbytes))

    def fail(self, code: ast.expr, words: list[ast.expr]) -> list[ast.stmt]:
        """Return the statements that write the first failure of a launch: a code and words."""
        stores = "".join(f"    store(status + {8 * i}, _{i})\n" for i in range(1, len(words) + 1))
        return _statements(f"if compare_exchange(status, 0, _0) == 1:\n{stores or '    pass'}", [code, *words])


class _Cuda:
    """The body of a kernel on a GPU."""

    slices = False

    def element(self, type: str) -> str:
        """Return the name of an element type in the source."""
        return "bool_" if type == "bool" else type

    def primitive(self, name: str, args: list[ast.expr]) -> ast.expr | None:
        """Return the expression of a primitive, or None if the device has no form of it."""
        if name in _CUDA_FORMS:
            return _placed(ast.parse(_CUDA_FORMS[name], mode="eval").body, args)
        function = PRIMITIVES[name].cuda
        return _call(f"math.{function}", *args) if function else _operator(name, args)

    def array_at(self, address: ast.expr, type: str) -> ast.expr | None:
        """Return an array that begins at an address, or None where there are none."""
        return None

    def stream(self, target: ast.expr, source: ast.expr, count: ast.expr) -> ast.stmt | None:
        """Return the statement that stores a row past the caches, or None where there is none."""
        return None

    def fail(self, code: ast.expr, words: list[ast.expr]) -> list[ast.stmt]:
        """Return the statements that write the first failure of a launch: a code and words."""
        stores = "".join(f"    status[{i}] = _{i}\n" for i in range(1, len(words) + 1))
        return _statements(f"if cuda.atomic.cas(status, 0, 0, _0) == 0:\n{stores or '    pass'}", [code, *words])


def _statements(text: str, args: Sequence[ast.expr]) -> list[ast.stmt]:
    class Places(_Places):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return super().visit_Name(node) if node.id[0] == "_" else node
    return [Places(args).visit(node) for node in ast.parse(text).body]


CPU, CUDA = _Cpu(), _Cuda()


def cpu_source(made: Specialized, types: Mapping[str, str], settings: Mapping[str, object],
               single: bool = False) -> str:
    """Return the source of a kernel over the items [begin, end). types: of the arrays' elements.

    single: over item 0 alone: LLVM has no loop to unroll, and takes two thirds of the time.
    """
    names = _Names(made)
    lines, word = [f"{key} = {value!r}" for key, value in settings.items()], 0
    args, begin, end = map(names.free, ("args", "begin", "end"))
    for name, helper in made.helpers.items():
        lines += ["@device", f"def {name}({_heads(helper)}):", *_docstring(helper),
                  *_body(helper, 1), ""]
    lines += [f"def kernel({args}, {begin}, {end}):", *_docstring(made)]
    *parameters, item = made.parameters
    for parameter in parameters:
        if parameter.kind == "array":
            lines.append(f"    {parameter.name} = {CPU.element(types[parameter.name])}_array({args}[{word}], 0)")
            word += 1
            continue
        for name in names.words(parameter):
            lines.append(f"    {name} = {args}[{word}]")
            word += 1
    if made.fails:
        lines.append(f"    status = {args}[{word}]")
    items = "1" if single else f"{begin}, {end}"
    lines += [f"    for {item.name} in range({items}):", *_body(made, 2), *["    stream_end()"] * made.streams]
    return "\n".join([*lines, ""])


def cuda_source(made: Specialized) -> str:
    """Return the source of a kernel over all items."""
    names = _Names(made)
    *parameters, item = made.parameters
    items = names.free("items")
    heads = [name for parameter in parameters for name in names.words(parameter)] + ["status"] * made.fails + [items]
    lines = [f"def kernel({', '.join(heads)}):", *_docstring(made)]
    for name, helper in made.helpers.items():
        lines += [f"    def {name}({_heads(helper)}):", *_docstring(helper, 2),
                  *_body(helper, 2)]
    lines += [f"    for {item.name} in range(cuda.grid(1), {items}, cuda.gridsize(1)):", *_body(made, 2)]
    return "\n".join([*lines, ""])


def _heads(helper: Specialized) -> str:
    return ", ".join(word for parameter in helper.parameters for word in _Names(helper).words(parameter))


class _Names:
    """Names of a kernel's own, beside those that the function uses."""

    def __init__(self, made: Specialized) -> None:
        self._used = {node.id for each in made.body for node in ast.walk(each) if isinstance(node, ast.Name)}
        self._used |= {parameter.name for parameter in made.parameters}
        self._lengths = {name[4:-1]: n for name, n in made.constants.items() if name.startswith("len(")}

    def free(self, name: str) -> str:
        """Return the name, with an underscore behind it where the function uses it."""
        return self.free(name + "_") if name in self._used else name

    def words(self, parameter: object) -> list[str]:
        """Return the names of a parameter's words: one, or as many as there are integers."""
        name = parameter.name                                                       # type: ignore[attr-defined]
        return [f"{name}_{i}" for i in range(self._lengths[name])] if name in self._lengths else [name]


def _docstring(made: Specialized, levels: int = 1) -> list[str]:
    """Return the lines of a docstring: name, summary, constants."""
    known = ", ".join(f"{name} = {value}" for name, value in made.constants.items())
    title = f"{made.definition.name}: {made.definition.doc}".replace("\\", "").replace('"""', "")
    lines = [f'"""{title}', "", f"{known}", '"""'] if known else [f'"""{title}"""']
    return textwrap.indent("\n".join(lines), " " * (4 * levels)).splitlines()


def _body(made: Specialized, levels: int) -> list[str]:
    text = "\n".join(ast.unparse(ast.fix_missing_locations(node)) for node in made.body)
    return textwrap.indent(text, " " * (4 * levels)).splitlines()
