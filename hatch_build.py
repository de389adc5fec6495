"""Refuse to pack a wheel that lacks the front end."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BundleCheck(BuildHookInterface):  # type: ignore[type-arg]
    """A wheel without ``static/widget.js`` would install and then show nothing."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Check for the bundle; an editable install may be made before it is built."""
        bundle = Path(self.root, "src", "trtwidget", "static", "widget.js")
        if version != "editable" and not bundle.is_file():
            message = f"{bundle} is missing: run 'make js' (needs Node) before packing."
            raise FileNotFoundError(message)
