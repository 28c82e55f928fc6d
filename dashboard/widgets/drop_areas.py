"""What Streamlit's drop areas lack for who does not see them."""

from __future__ import annotations

import streamlit as st

# Streamlit's drop area takes the focus although it is marked as decoration, which keeps it from screen readers.
# In a block of its own, for it runs again on every page that has such an area.
_NAMED = """<script>
{
const mend = () => document.querySelectorAll("[data-testid=stFileUploaderDropzone][role=presentation]")
  .forEach((area) => area.setAttribute("role", "group"));
window.dropAreas ??= new MutationObserver(mend);
window.dropAreas.observe(document.body, {childList: true, subtree: true});
mend();
}
</script>"""


def named() -> None:
    """Give the drop areas on the page their role; a constant script, nothing of the page's data in it."""
    st.html(_NAMED, unsafe_allow_javascript=True)
