"""Results of `inspect` and `diff` as text for a terminal."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tfnb.core.text import counted
from tfnb.tools.inspect import Found, as_text_shape

MOST = 40                                         # lines of a list, unless all are asked for


def bytes_text(count: float) -> str:
    """A number of bytes, as a person says it: 1.5 MB."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError


def report(found: Found, most: int | None = MOST) -> str:
    """The text for what `inspect` found; most: the longest list that is shown in full, None for any."""
    return "\n".join(_REPORTS[found["kind"]](found, most))


def _table(rows: Iterable[Sequence[Any]], most: int | None) -> Iterator[str]:
    """Rows with columns of equal width; numbers to the right. Those beyond `most` are counted."""
    all_rows = [[str(cell) for cell in row] for row in rows]
    shown = all_rows if most is None else all_rows[:most]
    if shown:
        widths = [max(len(row[i]) for row in shown) for i in range(len(shown[0]))]
        numbers = [all(row[i].replace(".", "").replace("-", "").replace(",", "").isdecimal() for row in shown)
                   for i in range(len(widths))]
        for row in shown:
            yield "  " + "  ".join(cell.rjust(w) if n else cell.ljust(w) for cell, w, n in
                                   zip(row, widths, numbers, strict=True)).rstrip()
    if len(shown) < len(all_rows):
        yield f"  ... and {len(all_rows) - len(shown):,} more (--all shows them)"


def _checkpoint(found: Found, most: int | None) -> Iterator[str]:
    yield (f"{found['path']}: a checkpoint ({found['format']}) of {counted(len(found['tensors']), 'tensor')}, "
           f"{counted(found['elements'], 'element')}, {bytes_text(found['bytes'])}")
    yield from _table(((t["name"], t["dtype"], as_text_shape(t["shape"])) for t in found["tensors"]), most)


def _graph(found: Found, most: int | None) -> Iterator[str]:
    ops = found["ops"]
    yield f"{found['nodes']:,} nodes of {len(ops)} types, written by producer {found['producer']}"
    yield "Ops: " + ", ".join(f"{count:,} {name}" for name, count in list(ops.items())[:12]) + \
        (f", and {len(ops) - 12} more types" if len(ops) > 12 else "")
    for key in ("placeholders", "variables"):
        if found[key]:
            yield f"{key.capitalize()}:"
            yield from _table(((t["name"], t["dtype"], as_text_shape(t["shape"])) for t in found[key]), most)
    if found["outputs"]:
        yield "Read by no other node:"
        yield from _table(([name] for name in found["outputs"]), most)
    if found["functions"]:
        yield f"Functions: {', '.join(found['functions'])}"


def _graph_file(found: Found, most: int | None) -> Iterator[str]:
    yield f"{found['path']}: a graph, {bytes_text(found['file bytes'])}"
    yield from _graph(found, most)


def _meta(found: Found, most: int | None) -> Iterator[str]:
    yield from _graph(found, most)
    if found["written by"]:
        yield f"Written by TensorFlow {found['written by']}"
    if found["collections"]:
        yield "Collections:"
        yield from _table(found["collections"].items(), most)
    if found["saver"]:
        yield f"Saver: version {found['saver']['version']}, saves by {found['saver']['save']}, restores by " \
              f"{found['saver']['restore']}"
    for key, signature in found["signatures"].items():
        yield f"Signature {key!r}" + (f" ({signature['method']})" if signature["method"] else "") + ":"
        yield from _table(((side[:-1], name, info["dtype"], as_text_shape(info["shape"]), info["name"])
                           for side in ("inputs", "outputs") for name, info in signature[side].items()), most)


def _meta_file(found: Found, most: int | None) -> Iterator[str]:
    yield f"{found['path']}: a meta graph, {bytes_text(found['file bytes'])}"
    yield from _meta(found, most)


def _saved_model(found: Found, most: int | None) -> Iterator[str]:
    metas = found["meta graphs"]
    yield f"{found['path']}: a SavedModel with {counted(len(metas), 'meta graph')}"
    for meta in metas:
        yield f"Meta graph with the tags {', '.join(meta['tags']) or '(none)'}:"
        yield from _meta(meta, most)


def _events(found: Found, most: int | None) -> Iterator[str]:
    yield f"{', '.join(found['paths'])}: {found['events']:,} events over {found['seconds']:,.0f} s"
    if found["other"]:
        yield "Besides summaries: " + ", ".join(f"{n} {what}" for what, n in found["other"].items())
    yield from _table(((tag, t["kind"], f"{t['values']:,}", f"steps {t['first step']}-{t['last step']}",
                        f"{t['last value']:.6g}" if "last value" in t else "")
                       for tag, t in found["tags"].items()), most)


def _records(found: Found, most: int | None) -> Iterator[str]:
    yield f"{found['path']}: {counted(found['records'], 'record')}, {bytes_text(found['bytes'])}"
    if found["first record"]:
        yield "The first is a tf.train.Example:"
        yield from _table(((key, f["kind"], f"{f['values']:,}") for key, f in found["first record"].items()), most)


_REPORTS = {"checkpoint": _checkpoint, "graph": _graph_file, "meta graph": _meta_file, "SavedModel": _saved_model,
            "events": _events, "records": _records}


def diff_report(found: Found, most: int | None = MOST) -> str:
    """The text for what `diff` found."""
    what = "tensors" if found["kind"] == "checkpoint" else "nodes"
    lines = [f"{found['equal']:,} {what} are equal, {len(found['changed']):,} differ, {len(found['only a']):,} are in "
             f"the first only, {len(found['only b']):,} in the second only"]
    for key, title in (("only a", "Only in the first:"), ("only b", "Only in the second:")):
        if found[key]:
            lines += [title, *_table(([name] for name in found[key]), most)]
    if found["changed"]:
        lines += ["Different:", *_table(((name, _change_text(change)) for name, change in found["changed"].items()),
                                        most)]
    return "\n".join(lines)


def _change_text(change: Mapping[str, Any]) -> str:
    if "elements" not in change:
        return "; ".join(f"{key}: {first} -> {second}" for key, (first, second) in change.items() if first != second)
    text = f"{change['elements']:,} of {change['of']:,} elements"
    if "max change" in change:
        text += f", by {change['max change']:.3g} at most, relative L2 {change['relative L2']:.3g}"
        if any(change["not finite"]):
            text += f", not finite: {change['not finite'][0]} -> {change['not finite'][1]}"
    return text
