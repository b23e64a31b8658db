"""What the client at the other end can do, read once from its capabilities."""

from __future__ import annotations

from dataclasses import dataclass, field

from lsprotocol import types
from pygls.capabilities import get_capability


@dataclass(frozen=True)
class ClientSupport:
    """`encoding` is the unit in which both sides count columns. `resolves_edits`: an action may be sent without its
    edit, which the client asks for when the user chooses the action."""

    encoding: str = types.PositionEncodingKind.Utf16.value
    document_changes: bool = False
    resolves_edits: bool = False
    shows_disabled: bool = False
    related_information: bool = False
    diagnostic_versions: bool = False
    tags: frozenset[types.DiagnosticTag] = field(default_factory=frozenset)
    pulls_settings: bool = False
    registers_settings: bool = False
    registers_watchers: bool = False

    @classmethod
    def read(cls, capabilities: types.ClientCapabilities, encoding: str) -> ClientSupport:
        """From the parameters of `initialize` and the negotiated encoding."""

        def can(path: str) -> bool:
            return bool(get_capability(capabilities, path, False))

        resolved = get_capability(capabilities, "text_document.code_action.resolve_support.properties", ())
        tags = get_capability(capabilities, "text_document.publish_diagnostics.tag_support.value_set", ())
        return cls(
            encoding=encoding,
            document_changes=can("workspace.workspace_edit.document_changes"),
            resolves_edits="edit" in (resolved or ()) and can("text_document.code_action.data_support"),
            shows_disabled=can("text_document.code_action.disabled_support"),
            related_information=can("text_document.publish_diagnostics.related_information"),
            diagnostic_versions=can("text_document.publish_diagnostics.version_support"),
            tags=frozenset(tags or ()),
            pulls_settings=can("workspace.configuration"),
            registers_settings=can("workspace.did_change_configuration.dynamic_registration"),
            registers_watchers=can("workspace.did_change_watched_files.dynamic_registration"),
        )
