"""tf.get_variable and the scopes that it takes its names and defaults from."""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from typing import Any
from weakref import WeakKeyDictionary

from tfnb.core import dtypes
from tfnb.core.arguments import VARIABLES, describe
from tfnb.core.dtypes import DType, as_dtype
from tfnb.core.shape import as_shape
from tfnb.graph.convert import convert_to_tensor
from tfnb.graph.graph import Graph
from tfnb.graph.parts.keys import GraphKeys
from tfnb.graph.parts.operation import Tensor
from tfnb.graph.stack import get_default_graph, get_graph_from_inputs, name_scope
from tfnb.variables import store as store
from tfnb.variables.store import AUTO_REUSE, Request
from tfnb.variables.variable import SCOPE_DEFAULT, Variable, VariableAggregation, VariableSynchronization

_INHERITED = ("initializer", "regularizer", "caching_device", "partitioner", "custom_getter", "constraint",
              "use_resource")


class VariableScope:
    """A prefix for names, and the defaults that `get_variable` takes from its surroundings.

    Attributes (each with a setter `set_...`): initializer, regularizer, caching_device, partitioner, custom_getter,
    dtype, constraint; name, original_name_scope and reuse (True, False, None or AUTO_REUSE) can be read.

    >>> with tf.variable_scope("layer") as scope:
    ...     scope.set_initializer(tf.ones_initializer())
    >>> with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
    ...     w = tf.get_variable("w", [2])
    >>> w.name
    'layer/w:0'
    """

    def __init__(self, reuse: Any, name: str = "", initializer: Any = None, regularizer: Any = None,
                 caching_device: Any = None, partitioner: Any = None, custom_getter: Any = None, name_scope: str = "",
                 dtype: Any = dtypes.float32, use_resource: bool | None = None, constraint: Any = None) -> None:
        self._name, self._reuse, self._name_scope = name, reuse, name_scope
        self.initializer, self.regularizer, self.caching_device = initializer, regularizer, caching_device
        self.partitioner, self.custom_getter, self.constraint = partitioner, custom_getter, constraint
        self.dtype: DType = as_dtype(dtype)
        self.use_resource = use_resource

    @property
    def name(self) -> str:
        """The prefix of names, without a slash at its end."""
        return self._name

    @property
    def original_name_scope(self) -> str:
        """The name scope that was opened when this scope was made first."""
        return self._name_scope

    @property
    def reuse(self) -> Any:
        """Whether variables are shared: True (they must exist), False or None (they must be new), AUTO_REUSE."""
        return self._reuse

    def reuse_variables(self) -> None:
        """Share variables from now on, in this scope and in those opened in it."""
        self._reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """Set the default initializer."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        """Set the default regularizer."""
        self.regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        """Set the default caching device."""
        self.caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        """Set the default partitioner."""
        self.partitioner = partitioner

    def set_custom_getter(self, custom_getter: Any) -> None:
        """Set the function that stands between `get_variable` and the variables."""
        self.custom_getter = custom_getter

    def set_dtype(self, dtype: Any) -> None:
        """Set the default dtype."""
        self.dtype = as_dtype(dtype)

    def set_use_resource(self, use_resource: bool) -> None:
        """Accepted without effect: variables are reference variables."""
        self.use_resource = use_resource

    def get_collection(self, name: str) -> list[Any]:
        """Return the entries of a collection of the default graph whose names lie in this scope."""
        return get_default_graph().get_collection(name, f"{self.name}/" if self.name else "")

    def trainable_variables(self) -> list[Any]:
        """Return the trainable variables of this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        """Return the global variables of this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        """Return the local variables of this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(self, var_store: Any, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
                     regularizer: Any = None, reuse: Any = None, trainable: bool | None = None,
                     collections: Any = None, caching_device: Any = None, partitioner: Any = None,
                     validate_shape: bool = True, use_resource: bool | None = None, custom_getter: Any = None,
                     constraint: Any = None,
                     synchronization: VariableSynchronization = VariableSynchronization.AUTO,
                     aggregation: VariableAggregation = VariableAggregation.NONE) -> Any:
        """As `tf.get_variable`, in this scope. var_store: a graph; None for the default graph."""
        graph = var_store if isinstance(var_store, Graph) else get_default_graph()
        full_name = f"{self.name}/{name}" if self.name else name
        given = _dtype_of(initializer, dtype)
        if custom_getter is None:
            custom_getter = self.custom_getter
        if regularizer is None:
            regularizer = self.regularizer
        arguments = {
            "shape": shape, "dtype": given or self.dtype, "trainable": trainable, "collections": collections,
            "initializer": self.initializer if initializer is None else initializer, "regularizer": regularizer,
            "reuse": self.reuse if reuse is None else reuse,
            "caching_device": self.caching_device if caching_device is None else caching_device,
            "partitioner": self.partitioner if partitioner is None else partitioner,
            "validate_shape": validate_shape,
            "use_resource": self.use_resource if use_resource is None else use_resource,
            "constraint": self.constraint if constraint is None else constraint,
            "synchronization": synchronization, "aggregation": aggregation}
        with graph.as_default(), name_scope(None):         # names of variables depend on variable scopes alone
            if custom_getter is None:
                return _true_getter(full_name, **arguments)
            return custom_getter(_true_getter, full_name, **arguments)


def _dtype_of(initializer: Any, dtype: Any) -> DType | None:
    """Return the dtype asked for, or that of a constant initializer. Raises ValueError if these differ."""
    wanted = None if dtype is None else as_dtype(dtype).base_dtype
    if wanted is None or initializer is None or callable(initializer):
        return wanted
    found = initializer.dtype if hasattr(initializer, "dtype") else convert_to_tensor(initializer).dtype
    if as_dtype(found).base_dtype != wanted:
        raise ValueError(f"Initializer type {as_dtype(found).base_dtype.name!r} and explicit dtype {wanted.name!r} "
                         "don't match.")
    return wanted


def _true_getter(name: str, shape: Any = None, dtype: Any = dtypes.float32, initializer: Any = None,
                 regularizer: Any = None, reuse: Any = None, trainable: bool | None = None, collections: Any = None,
                 caching_device: Any = None, partitioner: Any = None, validate_shape: bool = True,
                 use_resource: bool | None = None, constraint: Any = None,
                 synchronization: VariableSynchronization = VariableSynchronization.AUTO,
                 aggregation: VariableAggregation = VariableAggregation.NONE) -> Any:
    if regularizer is no_regularizer:
        regularizer = None
    graph = get_default_graph()
    request = Request(name, shape, as_dtype(dtype), initializer, regularizer, reuse, trainable, collections,
                      caching_device, validate_shape, constraint, synchronization, aggregation, use_resource)
    scalar = shape is not None and as_shape(shape).ndims == 0
    if (partitioner is not None and not scalar) or \
            (partitioner is None and reuse is True and store.is_partitioned(graph, name)):
        return store.find_or_make_parts(graph, request, partitioner)
    return store.find_or_make(graph, request)


def no_regularizer(_: Any) -> None:
    """Pass it as a regularizer to have none, whatever the scope says.

    >>> with tf.variable_scope("layer", regularizer=tf.contrib.layers.l2_regularizer(0.1)):
    ...     b = tf.get_variable("b", [2], regularizer=tf.no_regularizer)
    >>> tf.losses.get_regularization_losses()
    []
    """
    return None


class _Current(threading.local):
    """The innermost variable scope of each graph, in this thread."""

    def __init__(self) -> None:
        self.scopes: WeakKeyDictionary[Graph, VariableScope] = WeakKeyDictionary()

    def of(self, graph: Graph) -> VariableScope:
        """Return the scope in a graph; at first the outermost one, which shares nothing."""
        if graph not in self.scopes:
            self.scopes[graph] = VariableScope(False)
        return self.scopes[graph]


_current = _Current()


def get_variable_scope() -> VariableScope:
    """Return the innermost variable scope.

    >>> with tf.variable_scope("layer"):
    ...     scope = tf.get_variable_scope()
    >>> scope.name
    'layer'
    """
    return _current.of(get_default_graph())


SCOPE_DEFAULT.append(lambda: get_variable_scope().use_resource)


def get_variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
                 trainable: bool | None = None, collections: Any = None, caching_device: Any = None,
                 partitioner: Any = None, validate_shape: bool = True, use_resource: bool | None = None,
                 custom_getter: Any = None, constraint: Any = None,
                 synchronization: VariableSynchronization = VariableSynchronization.AUTO,
                 aggregation: VariableAggregation = VariableAggregation.NONE) -> Any:
    """Return the variable `name` of the current variable scope: shared if the scope's reuse says so, else made.

    initializer: a function of (shape, dtype), such as `tf.zeros_initializer()`, or a constant (then without shape); by
    default that of the scope, else Glorot's for floats and zeros for other types. regularizer: a function from the
    variable to a loss for GraphKeys.REGULARIZATION_LOSSES. dtype: float32 unless the scope says otherwise.
    custom_getter: a function (getter, name, **arguments) that stands between. Other arguments as of `tf.Variable`.

    Raises ValueError where a variable exists but may not be shared, must be shared but does not exist, or exists with
    another shape or dtype; and where the shape of a new one is not known.

    >>> w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    >>> sess.run(w.initializer)
    >>> w.name, sess.run(w)
    ('w:0', array([1., 1.], dtype=float32))
    """
    return get_variable_scope().get_variable(
        get_default_graph(), name, shape, dtype, initializer, regularizer, None, trainable, collections,
        caching_device, partitioner, validate_shape, use_resource, custom_getter, constraint, synchronization,
        aggregation)


def get_local_variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
                       regularizer: Any = None, trainable: bool = False, collections: Any = None,
                       caching_device: Any = None, partitioner: Any = None, validate_shape: bool = True,
                       use_resource: bool | None = None, custom_getter: Any = None, constraint: Any = None,
                       synchronization: VariableSynchronization = VariableSynchronization.AUTO,
                       aggregation: VariableAggregation = VariableAggregation.NONE) -> Any:
    """As `get_variable`, for a variable in LOCAL_VARIABLES (which are not saved) that is not trained (nor if
    `trainable` is True).

    >>> count = tf.get_local_variable("count", [], initializer=tf.zeros_initializer())
    >>> tf.local_variables() == [count], tf.trainable_variables()
    (True, [])
    """
    keys = [*(collections or []), GraphKeys.LOCAL_VARIABLES]
    return get_variable(name, shape, dtype, initializer, regularizer, False, keys, caching_device, partitioner,
                        validate_shape, use_resource, custom_getter, constraint, synchronization, aggregation)


def variable(initial_value: Any = None, trainable: bool | None = None, collections: Any = None,
             validate_shape: bool = True, caching_device: Any = None, name: str | None = None,
             dtype: Any = None, **options: Any) -> Variable:
    """Return a new `tf.Variable` with the caching device of the current variable scope, if none is given."""
    if caching_device is None:
        caching_device = get_variable_scope().caching_device
    return Variable(initial_value, trainable, collections, validate_shape, caching_device, name, dtype=dtype,
                    **options)


def _close(graph: Graph, outer: VariableScope, made: VariableScope, opened: Any) -> None:
    """Make `outer` the scope of the graph again, and forget the scopes that were opened inside of `made`."""
    if _current.of(graph) is made:
        _current.scopes[graph] = outer
    if opened is None:
        store.close_subscopes(graph, made.name)
    else:
        store.restore_opened(graph, opened)


class variable_scope:
    """Open a variable scope and a name scope: `with tf.variable_scope("layer") as scope:`.

    name_or_scope: a name, put behind that of the current scope, or a VariableScope to enter again. default_name:
    used, made unique, where name_or_scope is None (reuse in its place, as in 0.x, is recognised). values: tensors
    whose graph is made the default. reuse: True, False, None (as around) or AUTO_REUSE. initializer, regularizer,
    caching_device, partitioner, custom_getter, constraint, dtype: new defaults. auxiliary_name_scope: False opens no
    name scope.

    Raises TypeError and ValueError for arguments of wrong types or values.

    >>> with tf.variable_scope("layer"):
    ...     w = tf.get_variable("w", [2])
    >>> with tf.variable_scope("layer", reuse=True):
    ...     again = tf.get_variable("w", [2])
    >>> w.name, again is w
    ('layer/w:0', True)
    """

    def __init__(self, name_or_scope: Any, default_name: str | None = None, values: Sequence[Any] | None = None,
                 initializer: Any = None, regularizer: Any = None, caching_device: Any = None, partitioner: Any = None,
                 custom_getter: Any = None, reuse: Any = None, dtype: Any = None, use_resource: bool | None = None,
                 constraint: Any = None, auxiliary_name_scope: bool = True) -> None:
        second: Any = default_name
        if isinstance(second, bool) or second is AUTO_REUSE:
            default_name, reuse = None, second              # r0.x: the second argument
        if name_or_scope is None and default_name is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if name_or_scope is not None and not isinstance(name_or_scope, (str, VariableScope)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        if name_or_scope is None and not isinstance(default_name, str):
            raise TypeError(f"If name_or_scope is None, default_name must be a string, not {default_name!r}")
        if reuse not in (True, False, None, AUTO_REUSE):
            raise ValueError("The reuse parameter must be True or False or None.")
        if reuse and name_or_scope is None:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(f"The auxiliary_name_scope must be `True` or `False`, but get {auxiliary_name_scope}")
        self._target, self._default_name = name_or_scope, default_name
        self._values, self._auxiliary = values, auxiliary_name_scope
        self._reuse, self._dtype = reuse, dtype
        self._given = {"initializer": initializer, "regularizer": regularizer, "caching_device": caching_device,
                       "partitioner": partitioner, "custom_getter": custom_getter, "constraint": constraint,
                       "use_resource": use_resource}
        self._entered: list[tuple[AbstractContextManager[Any], Graph | None, VariableScope]] = []

    def __enter__(self) -> VariableScope:
        values = [v for v in self._values or () if v is not None]
        graph = get_graph_from_inputs(values) if values else get_default_graph()
        context = self._open(graph)
        entered = context.__enter__()
        self._entered.append((context, graph, entered))
        return entered

    def __exit__(self, *exc: Any) -> Any:
        context, graph, entered = self._entered[-1] if self._entered else (nullcontext(), None, None)
        if graph is None or _current.of(graph) is not entered:
            raise RuntimeError("Improper nesting of variable_scope: scopes must be left in the reverse order of "
                               "entering.")
        self._entered.pop()
        return context.__exit__(*exc)

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """As a decorator: open the scope around each call."""
        def scoped(*args: Any, **kwargs: Any) -> Any:
            with self:
                return fn(*args, **kwargs)
        return scoped

    @contextmanager
    def _open(self, graph: Graph) -> Iterator[VariableScope]:
        with ExitStack() as stack:
            stack.enter_context(graph.as_default())
            outer = _current.of(graph)
            target, default = self._target, self._default_name
            simple = default if target is None else target if isinstance(target, str) else target.name.split("/")[-1]
            scope = stack.enter_context(self._name_scope(graph, simple))
            if target is None:
                target = store.unique_scope(graph, outer.name, default)  # type: ignore[arg-type]
            made = self._scope(outer, target, scope)
            opened = store.opened_scopes(graph) if isinstance(target, VariableScope) else None
            store.open_scope(graph, made.name)
            _current.scopes[graph] = made
            stack.callback(_close, graph, outer, made, opened)
            try:
                yield made
            except GeneratorExit:                   # dropped while open, perhaps with others open inside: no one hears
                with suppress(AssertionError):
                    stack.close()
                raise

    def _name_scope(self, graph: Graph, simple: str | None) -> AbstractContextManager[str]:
        if not self._auxiliary:
            around = graph.get_name_scope()
            return nullcontext(f"{around}/" if around else "")
        return name_scope(simple) if simple else nullcontext("")

    def _scope(self, outer: VariableScope, target: str | VariableScope, name_scope: str) -> VariableScope:
        """The new scope: a prolonged one inherits from the scope around it, an entered one from its first opening."""
        again = isinstance(target, VariableScope)
        base: VariableScope = target if again else outer  # type: ignore[assignment]
        if again:
            name, original, reuse = base.name, base.original_name_scope, self._reuse or base.reuse
        else:
            name = f"{outer.name}/{target}" if outer.name else str(target)
            original, reuse = name_scope, self._reuse or outer.reuse
        defaults = {key: getattr(base, key) if self._given[key] is None else self._given[key] for key in _INHERITED}
        if self._given["custom_getter"] is not None and base.custom_getter is not None:
            defaults["custom_getter"] = _nested(base.custom_getter, self._given["custom_getter"])
        return VariableScope(reuse, name, name_scope=original, dtype=self._dtype or base.dtype, **defaults)


def _nested(outer: Callable[..., Any], inner: Callable[..., Any]) -> Callable[..., Any]:
    """Custom getters one in the other: the inner one calls the outer one as its getter."""
    def getter(true_getter: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
        return inner(lambda n, *a, **k: outer(true_getter, n, *a, **k), name, *args, **kwargs)
    return getter


def variable_op_scope(values: Sequence[Any], name_or_scope: Any, default_name: str | None = None,
                      initializer: Any = None, regularizer: Any = None, caching_device: Any = None,
                      partitioner: Any = None, custom_getter: Any = None, reuse: Any = None, dtype: Any = None,
                      use_resource: bool | None = None, constraint: Any = None) -> variable_scope:
    """`variable_scope` with its first arguments in the order of TensorFlow 0.x.

    >>> with tf.variable_op_scope([tf.constant(1)], "layer"):
    ...     w = tf.get_variable("w", [2])
    >>> w.name
    'layer/w:0'
    """
    return variable_scope(name_or_scope, default_name, values, initializer, regularizer, caching_device, partitioner,
                          custom_getter, reuse, dtype, use_resource, constraint)


def create_partitioned_variables(shape: Any, slicing: Sequence[int], initializer: Any, dtype: Any = dtypes.float32,
                                 trainable: bool = True, collections: Any = None, name: str | None = None,
                                 reuse: Any = None) -> list[Variable]:
    """Return the parts of a new variable, as a list.

    slicing: the number of parts along each axis, of which one may be above 1. dtype: of an initializer that is a tensor
    its own counts. Raises ValueError for a slicing of another length than the shape, and as `get_variable`.

    >>> parts = tf.create_partitioned_variables([4, 2], [2, 1], initializer=tf.zeros_initializer(), name="w")
    >>> [part.shape.as_list() for part in parts]
    [[2, 2], [2, 2]]
    """
    if len(shape) != len(slicing):
        raise ValueError("The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: "
                         f"{shape}, slicing: {slicing}")
    if min(slicing, default=1) < 1:
        raise ValueError(f"Partition sizes must be positive, but got {slicing}")

    def partitioner(**_: Any) -> list[int]:
        return list(slicing)
    if initializer is not None and not callable(initializer):
        initializer = convert_to_tensor(initializer, None if isinstance(initializer, (Tensor, Variable)) else dtype)
        dtype = initializer.dtype.base_dtype
    with variable_scope(name, "PartitionedVariable", reuse=reuse):
        made = get_variable_scope().get_variable(None, "", shape, dtype, initializer, trainable=trainable,
                                                 collections=collections, partitioner=partitioner)
    return list(made)


describe(globals(), VARIABLES)
