"""Which loops are innermost, and what is written into the IR."""
from __future__ import annotations

import pytest

from tfnb.kernels.llvm.codegen import _inlined
from tfnb.kernels.llvm.loops import innermost_loops, mark_independent


@pytest.mark.parametrize("edges, want", [
    ({"a": ["b"], "b": []}, []),
    ({"a": ["b"], "b": ["b", "c"], "c": []}, [({"b"}, ["b"])]),
    ({"a": ["h"], "h": ["i", "x"], "i": ["i", "l"], "l": ["h"], "x": []}, [({"i"}, ["i"])]),
    ({"a": ["h"], "h": ["p", "q"], "p": ["h"], "q": ["h", "x"], "x": []}, [({"h", "p", "q"}, ["q", "p"])]),
    ({"a": ["b"], "b": ["b", "c"], "c": ["c", "d"], "d": []}, [({"b"}, ["b"]), ({"c"}, ["c"])])])
def test_innermost_loops(edges, want):
    found = [(body, sorted(latches)) for body, latches in innermost_loops(edges)]
    assert sorted(found, key=str) == sorted(((body, sorted(latches)) for body, latches in want), key=str)


IR = """\
define void @f(ptr %p) {
  br label %loop

loop:                                             ; preds = %loop, %0
  %i = phi i64 [ 0, %0 ], [ %j, %loop ]
  %x = load float, ptr %p, align 4
  store float %x, ptr %p, align 4
  %j = add i64 %i, 1
  %c = icmp eq i64 %j, 9
  br i1 %c, label %end, label %loop, !llvm.loop !3

end:                                              ; preds = %loop
  store float 0.0, ptr %p, align 4
  ret void
}

!3 = !{}
"""


def test_marks():
    lines = mark_independent(IR).splitlines()
    assert "  %x = load float, ptr %p, align 4, !llvm.access.group !4" in lines
    assert "  store float %x, ptr %p, align 4, !llvm.access.group !4" in lines
    assert "  br i1 %c, label %end, label %loop, !llvm.loop !6" in lines
    assert "  store float 0.0, ptr %p, align 4" in lines
    assert lines[-3:] == ["!4 = distinct !{}", '!5 = !{!"llvm.loop.parallel_accesses", !4}', "!6 = distinct !{!6, !5}"]


CALLS = """\
define float @half(float %x) {
  %y = fmul float %x, 0.5
  ret float %y
}

define void @f(ptr noalias %p, ptr noalias %q) {
  br label %loop

loop:
  %i = phi i64 [ 0, %0 ], [ %j, %loop ]
  %from = getelementptr float, ptr %p, i64 %i
  %to = getelementptr float, ptr %q, i64 %i
  %x = load float, ptr %from, align 4
  %y = call float @half(float %x)
  store float %y, ptr %to, align 4
  %j = add i64 %i, 1
  %c = icmp eq i64 %j, 4096
  br i1 %c, label %end, label %loop

end:
  ret void
}
"""


def test_loops_stay_as_they_are_while_functions_are_inlined():
    """Loops are marked as independent after that, and only those of single elements are found."""
    made = _inlined(CALLS, "f")
    assert "@half" not in made and "fmul float" in made and " x float>" not in made
