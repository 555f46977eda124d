"""What scripts of tests count: checks, and what is left out. end() prints the line that run.sh adds up."""
import sys

passed = failed = skipped = 0


def check(good, text):
    global passed, failed
    passed += bool(good)
    failed += not good
    if not good:
        print("FAILED: %s" % text)


def skip(text):
    global skipped
    skipped += 1
    print("skipped: %s" % text)


def end():
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    sys.exit(failed != 0)
