"""Layers, Parameters and Primitives that move to `__init__`: what the fixtures do not show."""

from __future__ import annotations

import pytest

from .specimen import findings, fixed


def test_many_layers_of_one_class_move_in_one_pass(tmp_path):
    lines = "\n        ".join(f"x = nn.Dense(4, {n})(ops.Concat({n})((x, x)))" for n in range(1, 41))
    result, texts = fixed(
        tmp_path, net=f"class Net(nn.Cell):\n    def construct(self, x):\n        {lines}\n        return x\n"
    )
    [change] = result.changes.values()
    assert result.refused == [] and result.remaining.all_findings() == []
    assert len({applied.source.utf8 for applied in change.applied}) == 1, "one pass is enough"
    text = texts["net"]
    assert text.index("self.dense = nn.Dense(4, 1)") < text.index("self.concat = ops.Concat(1)")
    assert text.count("self.dense_40 = nn.Dense(4, 40)") == 1 and text.count("def __init__") == 1


def test_a_fix_taken_alone_leaves_a_free_name_for_the_next(tmp_path):
    body = """
        class Net(nn.Cell):
            def construct(self, x):
                x = nn.Dense(4, 4)(x)
                return nn.Dense(4, 2)(x)
        """
    second = "as self.dense_2"
    result, texts = fixed(tmp_path, choose=lambda path, f: f.fixes[0] if second in f.fixes[0].title else None, net=body)
    assert "self.dense_2(x)" in texts["net"]
    assert result.remaining.all_findings() != []
    _, again = fixed(tmp_path, net=texts["net"])
    assert "self.dense = nn.Dense(4, 4)" in again["net"] and "self.dense_2 = nn.Dense(4, 2)" in again["net"]


def test_names_that_bases_and_subclasses_use_are_not_taken(tmp_path):
    _, texts = fixed(
        tmp_path, base="""
        class Base(nn.Cell):
            def __init__(self):
                super().__init__()
                self.dense = nn.Dense(4, 4)
        """, net="""
        from base import Base

        class Net(Base):
            def construct(self, x):
                cells = nn.ReLU()
                return nn.Dense(4, 2)(cells(x))

        class Wide(Net):
            def __init__(self):
                super().__init__()
                self.dense_2 = nn.Dense(4, 8)

        def prepare(net):
            net.dense_3 = None
        """,
    )  # fmt: skip
    assert "self.dense_4 = nn.Dense(4, 2)" in texts["net"]
    assert "self.cells_2 = nn.ReLU()" in texts["net"], "every Cell has a method `cells`"


@pytest.mark.parametrize(
    ("signature", "wanted"),
    [
        ("self", "self, max_n=3"),
        ("self, a, b=1", "self, a, b=1, max_n=3"),
        ("self, a=(1)", "self, a=(1), max_n=3"),
        ("self, *rest", "self, *rest, max_n=3"),
        ("self, a, *, b=1", "self, a, *, b=1, max_n=3"),
        ("self, a: int = 1, **more", "self, a: int = 1, max_n: int = 3, **more"),
    ],
)
def test_the_count_is_appended_so_that_old_calls_stay_valid(tmp_path, signature, wanted):
    _, texts = fixed(tmp_path, net=f"""
        class Net(nn.Cell):
            def __init__({signature}):
                super().__init__()

            def construct(self, x, n: int = 3):
                for _ in range(n):
                    x = nn.Dense(4, 4)(x)
                return x
        """)  # fmt: skip
    assert f"def __init__({wanted}):" in texts["net"]
    assert "self.denses = nn.CellList([nn.Dense(4, 4) for _ in range(max_n)])" in texts["net"]


def test_the_default_of_the_count_is_the_largest_that_the_project_asks_for(tmp_path):
    result, texts = fixed(
        tmp_path, head="""
        class Head(nn.Cell):
            def construct(self, x, depth):
                for _ in range(depth):
                    x = nn.Dense(4, 4)(x)
                    x = nn.LayerNorm((4,))(x)
                return x
        """, net="""
        from head import Head

        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.head = Head()

            def construct(self, x):
                return self.head(x, 5) + self.head(x, depth=2)
        """,
    )  # fmt: skip
    assert "def __init__(self, max_depth=5):" in texts["head"]
    assert texts["head"].count("range(max_depth)") == 2
    reasons = [a.fix.reason for c in result.changes.values() for a in c.applied]
    assert any("max_depth=5 (the call in Net.construct)" in r and "IndexError" in r for r in reasons)


def test_a_bound_that_init_takes_already_is_used(tmp_path):
    _, texts = fixed(tmp_path, net="""
        class Net(nn.Cell):
            def __init__(self, max_steps=6):
                super().__init__()

            def construct(self, x, steps):
                for step in range(steps):
                    x = nn.Dense(4, 4)(x) * step
                return x
        """)  # fmt: skip
    assert "def __init__(self, max_steps=6):" in texts["net"] and "for _ in range(max_steps)" in texts["net"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("y = x + 1\n                return nn.Dense(y.shape[1], 4)(x)", "y is a value of construct"),
        ("return nn.Dense(self.late, 4)(x)", "self.late is also set in prepare"),
        ("return nn.Dense(self.unknown, 4)(x)", "no __init__ in sight sets self.unknown"),
        ("return nn.Dense(self.width(), 4)(x)", "self.width is a method"),
        ("return nn.SequentialCell(self.act, nn.Dense(4, 4))(x)", "self.act is a Cell of the instance"),
        ("return nn.Dense(size, 4)(x)", "__init__ uses the name size for something else"),
        ("return nn.Dense(4, 4).to_float(ms.float16)(x)", "a method of it is called"),
        (
            "i = 0\n                while i < 2:\n                    x = nn.Dense(4, 4)(x)\n                return x",
            "a while loop",
        ),
        (
            "for t in x:\n                    x = nn.Dense(4, 4)(t)\n                return x",
            "x is a value of construct",
        ),
    ],
)
def test_what_init_does_not_know_is_reported_and_not_guessed(tmp_path, body, reason):
    found = findings(tmp_path, net=f"""
        size = 3

        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                size = 4
                self.late = size
                self.act = nn.ReLU()

            def prepare(self):
                self.late = 5

            def width(self):
                return 4

            def construct(self, x):
                {body}
        """)  # fmt: skip
    [finding] = [f for f in found if f.code == "GW201"]
    [fix] = finding.fixes
    assert fix.applicability.value == "manual" and fix.edits == ()
    assert reason in fix.reason


def test_a_subclass_that_skips_the_init_keeps_the_layer_where_it_is(tmp_path):
    found = findings(tmp_path, net="""
        class Net(nn.Cell):
            def construct(self, x):
                return nn.ReLU()(x)

        class Bare(Net):
            def __init__(self):
                pass
        """)  # fmt: skip
    assert [f.fixes[0].applicability.value for f in found] == ["manual"]
    assert "Bare.__init__ does not call the __init__ of Net" in found[0].fixes[0].reason


def test_a_cell_whose_base_is_out_of_sight_is_a_cell_when_it_has_a_construct(tmp_path):
    _, texts = fixed(tmp_path, net="""
        from somewhere import PreTrainedModel

        class Net(PreTrainedModel):
            def construct(self, x):
                return nn.ReLU()(x)

        class Mixin:
            def forward(self, x):
                return x
        """)  # fmt: skip
    assert "def __init__(self, *args, **kwargs):\n        super().__init__(*args, **kwargs)\n" in texts["net"]


def test_seeded_primitives_differ_between_the_modes(tmp_path):
    found = findings(tmp_path, net="""
        class Net(nn.Cell):
            def construct(self, x):
                a = ops.StandardNormal(seed=3, seed2=4)(x.shape)
                return a + ops.StandardNormal()(x.shape)
        """)  # fmt: skip
    assert [(f.code, f.consequence.value, f.fixes[0].applicability.value) for f in found] == [
        ("GW203", "divergence", "unsafe"), ("GW203", "performance", "unsafe"),
    ]  # fmt: skip


def test_two_random_primitives_do_not_become_one(tmp_path):
    _, texts = fixed(tmp_path, net="""
        class Net(nn.Cell):
            def construct(self, x):
                return ops.Dropout(0.5)(x)[0] + ops.Dropout(0.5)(x)[0]
        """)  # fmt: skip
    assert "self.dropout_2 = ops.Dropout(0.5)" in texts["net"]


def test_layers_of_exclusive_branches_do_not_clash(tmp_path):
    found = findings(tmp_path, net="""
        class Net(nn.Cell):
            def __init__(self, flag):
                super().__init__()
                self.flag = flag

            def construct(self, x):
                if self.flag:
                    return nn.Dense(4, 4)(x)
                return nn.Dense(4, 2)(x)

        class Other(nn.Cell):
            def construct(self, x):
                if x.sum() > 0:
                    x = nn.Dense(4, 4)(x)
                else:
                    x = nn.Dense(4, 4, has_bias=False)(x)
                return x
        """)  # fmt: skip
    assert [f.consequence.value for f in found] == ["divergence", "divergence", "error", "error"]


def test_parameters_in_a_loop_need_names_of_their_own(tmp_path):
    found = findings(tmp_path, net="""
        class Net(nn.Cell):
            def construct(self, x):
                for _ in range(2):
                    x = x * Parameter(Tensor([2.0]), name="scale")
                return x
        """)  # fmt: skip
    assert "the same name" in found[0].fixes[0].reason
