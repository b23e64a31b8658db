"""The parts of a package, and which may read which: a part reads those above it only."""

from __future__ import annotations

from enum import Enum


class Role(Enum):
    """In the order in which parts may read each other."""

    SHARED = "shared"
    DATA = "data_loader"
    BACKBONE = "backbone"
    HEAD = "head"
    LOSS = "loss"
    NETWORK = "network"
    TRAIN = "train"
    INIT = "__init__"

    @property
    def rank(self) -> int:
        return list(Role).index(self)

    @property
    def title(self) -> str:
        """What the docstring of its file says."""
        return _TITLES[self]


_TITLES = {
    Role.SHARED: "What several parts share.",
    Role.DATA: "Data loading.",
    Role.BACKBONE: "The backbone.",
    Role.HEAD: "The head.",
    Role.LOSS: "The loss.",
    Role.NETWORK: "The network: its parts put together.",
    Role.TRAIN: "Training and evaluation.",
    Role.INIT: "",
}

# A name of the file that is spelt like a part would be hidden by it in the package.
_OTHERS = {
    Role.SHARED: "common", Role.DATA: "data_loading", Role.HEAD: "heads", Role.LOSS: "losses",
    Role.NETWORK: "networks", Role.TRAIN: "training", Role.BACKBONE: "backbones",
}  # fmt: skip


def stem_of(role: Role, taken: set[str]) -> str:
    """The name of the module of a role: none that the package binds already."""
    if role is Role.INIT:
        return role.value
    candidates = [role.value, _OTHERS[role], f"{role.value}_part"]
    return next((c for c in candidates if c not in taken), f"_{role.value}_part")
