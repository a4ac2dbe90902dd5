"""Names of papers and artefacts, as people read them."""

from mtmkl_suite.config.models import Publication


def is_ours(paper: Publication) -> bool:
    """Tell whether it is a comparison or a template of this package, and no paper."""
    return bool(paper.authors == "mtmkl")


def short_name(paper: Publication) -> str:
    """Return "Argyriou et al. 2008", or the title of what is our own."""
    if is_ours(paper):
        return str(paper.title)
    surnames = [name.split()[-1] for name in str(paper.authors).split(", ")]
    if len(surnames) > 2:
        surnames = [f"{surnames[0]} et al."]
    return f"{' & '.join(surnames)} {paper.year}"


def column_name(paper: Publication) -> str:
    """Return the name of a paper in a narrow column: one or two words."""
    if is_ours(paper):
        return _capitalised(str(paper.id).replace("_", " "))
    return short_name(paper)


def reference(paper: Publication) -> str:
    """Return a paper as it is cited in a list."""
    if is_ours(paper):
        return "A comparison of our own, not of a paper."
    doi = f" doi:{paper.doi}" if paper.doi else ""
    venue = _capitalised(paper.venue)
    return f"{paper.authors} ({paper.year}). {paper.title}. {venue}.{doi}"


def number_of(artefact: str) -> str:
    """Return "Table 1" for ``table_1``, and nothing for a name without a number."""
    kind, _, number = artefact.partition("_")
    is_number = number.isalnum() and number[0].isdigit()
    return f"{kind.capitalize()} {number}" if is_number else ""


def heading_of(artefact: str, title: str, paper: Publication | None = None) -> str:
    """Return a heading such as "Table 1 of Jebara 2011: Title"."""
    parts = [number_of(artefact), short_name(paper) if paper else ""]
    place = " of ".join(filter(None, parts))
    return f"{place}: {title}" if place else title


def _capitalised(text: str) -> str:
    """Return a text with a capital, unless its first word has one, as arXiv does."""
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.islower() else text
