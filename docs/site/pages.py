#!/usr/bin/env python3
"""Lays the repository's Markdown out for the site in docs/site/target/pages: each README becomes the index of its folder, marks are
left out, and a link to a file that is no page (source code, a folder) becomes its path. Ends with 1 if a link leads nowhere."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PAGES = pathlib.Path(__file__).resolve().parent / "target/pages"
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def tracked():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True)
    return {path for path in listed.stdout.splitlines() if (REPOSITORY / path).is_file()}


def named(path):
    return re.sub(r"(^|/)README\.md$", r"\1index.md", path)


def laid_out(page, files, dead):
    """The text of a page of the site."""

    def link(match):
        image, text, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        address, hash_, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), address))
        if path in files and (image or path.endswith(".md")):
            return f"{image}[{text}]({re.sub(r'README.md$', 'index.md', address)}{hash_}{anchor})"
        if not (REPOSITORY / path).exists():
            dead.append(f"{page} links to {target}, which does not exist")
        return text if "`" in text else f"{text} (`{path}`)" if text.strip("/`") != path.strip("/") else f"`{path}`"

    text = (REPOSITORY / page).read_text(encoding="utf-8")
    text = re.sub(r"^<!--[^>]*-->\n", "", text, flags=re.M)
    text = LINK.sub(link, text)
    return text.replace("<br>", "; ").replace("```mermaid", "```text").replace("```alloy", "```hcl")


def main():
    files, dead = tracked(), []
    shutil.rmtree(PAGES, ignore_errors=True)
    for page in sorted(files):
        if page.endswith(".md"):
            into = PAGES / named(page)
            into.parent.mkdir(parents=True, exist_ok=True)
            into.write_text(laid_out(page, files, dead), encoding="utf-8")
        elif page.startswith("docs/images/"):
            (PAGES / page).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / page, PAGES / page)
    print("\n".join(dead), end="\n" if dead else "")
    return bool(dead)


if __name__ == "__main__":
    sys.exit(main())
