"""Thresholding: Tell me when a count passes the line, and answer nothing else."""

from __future__ import annotations

from dashboard.catalogue import Page

PAGE = Page(
    key="thresholding",
    title="Thresholding",
    icon=":material/notifications_active:",
    rank=20,
    example="outbreak",
    asks="Has it passed the line?",
    about="Tell me when a count passes the line, and answer nothing else.",
)
