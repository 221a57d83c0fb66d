"""`python -m spacy_cnm` is the same as `spacy-cnm`."""

from spacy_cnm.cli import main

if __name__ == "__main__":
    main()
