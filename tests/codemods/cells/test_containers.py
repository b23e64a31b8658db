"""Plain containers of Cells and Parameters: what the fixtures do not show."""

from __future__ import annotations

import pytest

from .specimen import findings, fixed

TWO = "nn.Dense(4, 4), nn.Dense(4, 4)"


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        ("for m in self.cells_[::-1]:\n                    x = m(x)", "it is sliced"),
        ("for m in self.cells_ + [self.act]:\n                    x = m(x)", "joined to another list"),
        ("for m in reversed(self.cells_):\n                    x = m(x)", "handed to a function"),
        ("mine = self.cells_\n                x = mine[0](x)", "a second name"),
        ("x = self.cells_[self.cells_.index(self.act)](x)", ".index is used"),
        ("if isinstance(self.cells_, list):\n                    x = self.cells_[0](x)", "handed to a function"),
    ],
)
def test_uses_that_a_celllist_does_not_know_are_reported(tmp_path, use, reason):
    [finding] = findings(tmp_path, net=f"""
        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.act = nn.ReLU()
                self.cells_ = [{TWO}]

            def construct(self, x):
                {use}
                return x
        """)  # fmt: skip
    [fix] = finding.fixes
    assert (finding.code, fix.applicability.value) == ("GW204", "manual")
    assert reason in fix.reason


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ('{"training": nn.Dense(4, 4)}', "does not take the key 'training'"),
        ('{"a.b": nn.Dense(4, 4)}', "does not take the key 'a.b'"),
        ("{name: nn.Dense(4, 4) for name in names}", "not seen to be strings"),
        ('{"a": nn.SequentialCell(nn.Dense(4, 4))}', "does not take a SequentialCell"),
        ('{"a": nn.Dense(4, 4), "b": 3}', "not seen to be a Cell"),
    ],
)
def test_a_celldict_is_choosy(tmp_path, value, reason):
    [finding] = findings(tmp_path, net=f"""
        class Net(nn.Cell):
            def __init__(self, names=("a", "b")):
                super().__init__()
                self.parts = {value}

            def construct(self, x):
                for part in self.parts.values():
                    x = part(x)
                return x
        """)  # fmt: skip
    assert reason in finding.fixes[0].reason


def test_lists_of_two_attributes_clash_with_each_other(tmp_path):
    found = findings(tmp_path, net="""
        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.left = [nn.Dense(4, 4)]
                self.right = [nn.Conv2d(4, 4, 1)]
                self.norms = [nn.LayerNorm((4,))]

            def construct(self, x):
                return self.left[0](x) + self.right[0](x) + self.norms[0](x)
        """)  # fmt: skip
    assert [f.consequence.value for f in found] == ["error", "error", "performance"]


def test_one_cell_many_times_is_one_cell(tmp_path):
    [finding] = findings(tmp_path, net="""
        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.layers = [nn.Dense(4, 4)] * 3

            def construct(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x
        """)  # fmt: skip
    assert finding.consequence.value == "performance"


def test_a_list_that_graph_code_does_not_use_is_not_looked_at(tmp_path):
    assert findings(tmp_path, net=f"""
        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.spare = [{TWO}]

            def construct(self, x):
                return x
        """) == []  # fmt: skip


def test_a_list_filled_in_another_method_is_not_turned_too_early(tmp_path):
    [finding] = findings(tmp_path, net="""
        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.layers = []
                self.layers.append(nn.Dense(4, 4))
                self.build()

            def build(self):
                self.layers.append(nn.Dense(4, 4))

            def construct(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x
        """)  # fmt: skip
    assert "build fills it too" in finding.fixes[0].reason


def test_dropout_in_a_list_hears_of_training_only_afterwards(tmp_path):
    result, texts = fixed(tmp_path, net="""
        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.drops = (nn.Dropout(p=0.1), nn.Dropout(p=0.2))

            def construct(self, x):
                for drop in self.drops:
                    x = drop(x)
                return x
        """)  # fmt: skip
    [change] = result.changes.values()
    assert "self.drops = nn.CellList([nn.Dropout(p=0.1), nn.Dropout(p=0.2)])" in texts["net"]
    assert [a.fix.reason for a in change.applied] == ["set_train() now reaches the Cells"]
