"""What runs beside the screen: checks of what the decisions make, the eye on the disk, writes, and proofs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...errors import GraphwardError
from .. import actions as act
from ..outcome import Written
from ..proving import Prover, Stopped
from ..session import Reread, Review
from ..state import FileReview, Place, State

Post = Callable[..., None]
"""Calls a function, with arguments, on the thread of the screen."""


class Checks:
    """One check at a time; the newest decisions are checked next."""

    def __init__(self, review: Review, post: Post, done: Callable[[Sequence[act.Action]], None],
                 reread: Callable[[Path, Reread], None]):  # fmt: skip
        self._review, self._post, self._done, self._reread = review, post, done, reread
        self.running = False
        self._failed: set[int] = set()

    def start(self, changed: Sequence[Path] = ()) -> bool:
        """Check what is unsettled, and read the `changed` files again; whether there was anything to do. To be called
        by the thread of the screen, again when it is done."""
        if self.running:
            return False
        waiting = [f for f in self._review.unsettled() if id(f.layers) not in self._failed]
        if not (waiting or changed):
            return False
        self.running = True
        files = self._review.state.files

        def work() -> None:
            actions: list[act.Action] = []
            seen: list[tuple[Path, Reread]] = []
            try:
                seen = [(path, self._review.look_again(path)) for path in changed]
                actions += self._review.checker.settle(waiting, files)
            except GraphwardError as error:
                self._failed.update(id(f.layers) for f in waiting)
                actions.append(act.Say(str(error)))
            finally:
                self._post(self._finish, actions, seen)

        threading.Thread(target=work, name="checks", daemon=True).start()
        return True

    def _finish(self, actions: Sequence[act.Action], seen: Sequence[tuple[Path, Reread]]) -> None:
        self.running = False
        for path, what in seen:
            self._reread(path, what)
        self._done(actions)


class Writes:
    """One write at a time."""

    def __init__(self, review: Review, post: Post):
        self._review, self._post = review, post
        self.running = False

    def start(self, files: Sequence[FileReview], done: Callable[[Written | GraphwardError], None]) -> None:
        """Write `files`, or the patch; `done` hears of it on the thread of the screen."""
        self.running = True

        def work() -> None:
            written: Written | GraphwardError
            try:
                written = self._review.write_out(files, self._review.begin_write())
            except GraphwardError as error:
                written = error
            self._post(finish, written)

        def finish(written: Written | GraphwardError) -> None:
            self.running = False
            if isinstance(written, Written):
                self._review.wrote(files, written)
            done(written)

        threading.Thread(target=work, name="write").start()


class Proofs:
    """One proof at a time; it can be stopped."""

    def __init__(self, review: Review, post: Post, tell: Callable[[int, int, str], None],
                 done: Callable[[act.Action], None]):  # fmt: skip
        self._prover = Prover(review)
        self._post, self._tell, self._done = post, tell, done
        self.running = False

    def start(self, state: State, places: Sequence[Place], *, widely: bool = False) -> None:
        """Prove what runs through `places`, `widely` as the prover has it."""
        self.running = True

        def tell(*step: Any) -> None:
            self._post(self._tell, *step)

        def work() -> None:
            action: act.Action = act.Say("The proof has failed.")
            try:
                action = self._prover.prove(state, places, tell, widely=widely)
            except Stopped:
                action = act.Say("The proof was stopped.")
            except (GraphwardError, OSError) as error:
                action = act.Say(str(error).replace("\n", " "))
            finally:
                self._post(self._finish, action)

        threading.Thread(target=work, name="proof", daemon=True).start()

    def stop(self) -> None:
        """Stop the one that runs."""
        self._prover.stop()

    def close(self) -> None:
        """End the worker process."""
        if self.running:
            self._prover.stop()
        else:
            self._prover.close()

    def _finish(self, action: act.Action) -> None:
        self.running = False
        self._done(action)
