"""What the client at the other end can do, read once from its capabilities."""

from __future__ import annotations

from dataclasses import dataclass, field

from lsprotocol import types
from pygls.capabilities import get_capability


@dataclass(frozen=True)
class ClientSupport:
    """`encoding` is the unit in which both sides count columns. `resolves_edits`: an action may be sent without its
    edit, which the client asks for when the user chooses the action. `pulls_diagnostics`: it asks for diagnostics, so
    that none are published."""

    encoding: str = types.PositionEncodingKind.Utf16.value
    document_changes: bool = False
    annotates_changes: bool = False
    resolves_edits: bool = False
    shows_disabled: bool = False
    related_information: bool = False
    code_descriptions: bool = False
    diagnostic_versions: bool = False
    tags: frozenset[types.DiagnosticTag] = field(default_factory=frozenset)
    pulls_diagnostics: bool = False
    refreshes_diagnostics: bool = False
    refreshes_lenses: bool = False
    shows_markdown: bool = True
    shows_progress: bool = False
    shows_documents: bool = False
    pulls_settings: bool = False
    registers_settings: bool = False
    registers_watchers: bool = False

    @classmethod
    def read(cls, capabilities: types.ClientCapabilities, encoding: str) -> ClientSupport:
        """From the parameters of `initialize` and the negotiated encoding."""

        def can(path: str) -> bool:
            return bool(get_capability(capabilities, path, False))

        resolved = get_capability(capabilities, "text_document.code_action.resolve_support.properties", ())
        # A client that pulls says of diagnostics in general what one that is sent them says of those.
        pulls = get_capability(capabilities, "text_document.diagnostic") is not None
        shown = "text_document.diagnostic" if pulls else "text_document.publish_diagnostics"
        tags = get_capability(capabilities, f"{shown}.tag_support.value_set", ()) or get_capability(
            capabilities, "text_document.publish_diagnostics.tag_support.value_set", ()
        )
        formats = get_capability(capabilities, "text_document.hover.content_format", None)

        def shows(feature: str) -> bool:
            return can(f"{shown}.{feature}") or can(f"text_document.publish_diagnostics.{feature}")

        return cls(
            encoding=encoding,
            document_changes=can("workspace.workspace_edit.document_changes"),
            annotates_changes=get_capability(capabilities, "workspace.workspace_edit.change_annotation_support")
            is not None,
            resolves_edits="edit" in (resolved or ()) and can("text_document.code_action.data_support"),
            shows_disabled=can("text_document.code_action.disabled_support"),
            related_information=shows("related_information"),
            code_descriptions=shows("code_description_support"),
            diagnostic_versions=can("text_document.publish_diagnostics.version_support"),
            tags=frozenset(tags or ()),
            pulls_diagnostics=pulls,
            refreshes_diagnostics=can("workspace.diagnostics.refresh_support"),
            refreshes_lenses=can("workspace.code_lens.refresh_support"),
            shows_markdown=formats is None or types.MarkupKind.Markdown in formats,
            shows_progress=can("window.work_done_progress"),
            shows_documents=can("window.show_document.support"),
            pulls_settings=can("workspace.configuration"),
            registers_settings=can("workspace.did_change_configuration.dynamic_registration"),
            registers_watchers=can("workspace.did_change_watched_files.dynamic_registration"),
        )
