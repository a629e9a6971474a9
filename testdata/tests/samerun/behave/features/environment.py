def before_tag(context, tag):
    if tag == "broken_hook":
        raise RuntimeError("no database")
