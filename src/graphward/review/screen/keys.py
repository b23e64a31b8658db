"""The keys, once: for the bindings, the footer and the help."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """`name` is Textual's, `shown` what stands on the keyboard, `label` the word in the footer; `action` is a method of
    the application."""

    name: str
    shown: str
    label: str
    help: str
    action: str


KEYS = (
    Key("y", "y", "accept", "accept the fix that is shown", "accept"),
    Key("n", "n", "reject", "leave the finding as it is; on a file, all of it that is open", "reject"),
    Key("tab", "Tab", "next fix", "show the next alternative of the fix (Shift+Tab: the one before)", "next_fix"),
    Key("e", "e", "edit", "edit the proposed text in $EDITOR; it is accepted if the file parses", "edit"),
    Key("s", "s", "silence", "silence the rule at this place with a comment", "silence"),
    Key("c", "c", "clear", "take the decision on this finding back", "clear"),
    Key("j", "j", "next", "go to the next finding that is open", "next_open"),
    Key("k", "k", "previous", "go to the one before", "previous_open"),
    Key("R", "R", "all of rule", "accept the preferred fix of every open finding of this rule", "accept_rule"),
    Key("F", "F", "all of file", "accept the preferred fix of every open finding of this file", "accept_file"),
    Key("a", "a", "all safe", "accept every safe fix", "accept_safe"),
    Key("v", "v", "verify", "prove this region with the fix that is shown; this runs your code", "verify"),
    Key("V", "V", "verify accepted", "prove everything that is accepted; this runs your code", "verify_all"),
    Key("u", "u", "undo", "take the last decision back, without limit", "undo"),
    Key("r", "r", "redo", "take it again", "redo"),
    Key("slash", "/", "filter", "choose what the list shows; Esc shows everything again, or stops a proof", "filter"),
    Key("enter", "Enter", "fold", "hide or show the findings of this file", "fold"),
    Key("o", "o", "open", "open the file at the line in $EDITOR", "open"),
    Key("w", "w", "write", "write what is accepted", "write"),
    Key("question_mark", "?", "help", "show this", "help"),
    Key("q", "q", "quit", "leave; decisions are kept", "quit"),
)

MORE = (
    ("Up, Down, Home, End", "go through the list; also the mouse: click a row, a key below, or use the wheel"),
    ("PageUp, PageDown", "scroll the diff; Left and Right too"),
    ("[ and ]", "scroll the panel below the diff"),
)
