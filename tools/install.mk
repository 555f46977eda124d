# make install and make uninstall: the program of this flavour and its files, below DESTDIR and PREFIX.
.PHONY: install uninstall
PREFIX ?= /usr/local
AT     := $(DESTDIR)$(PREFIX)
PAGES  := $(BUILD)/spbench.1 $(BUILD)/spbench.bash
$(PAGES): $(BUILD)/spbench
	$< $(if $(filter %.1,$@),man,completion bash) >$@.part && mv $@.part $@
install: $(BUILD)/spbench $(PAGES)
	install -D -m 755 $(BUILD)/spbench "$(AT)/bin/spbench"
	install -D -m 644 $(BUILD)/spbench.1 "$(AT)/share/man/man1/spbench.1"
	install -D -m 644 $(BUILD)/spbench.bash "$(AT)/share/bash-completion/completions/spbench"
	install -D -m 755 -t "$(AT)/share/spbench" fetch_suitesparse.sh
	install -D -m 644 -t "$(AT)/share/spbench" matrices.txt
	install -D -m 644 -t "$(AT)/share/spbench/fetch" fetch/*
	install -D -m 755 -t "$(AT)/share/spbench/plots" plots/*.py
	install -D -m 644 -t "$(AT)/share/spbench/plots" plots/page.* src/base/precs.def
	install -D -m 644 -t "$(AT)/include" include/spbench_plugin.h
	install -D -m 644 -t "$(AT)/share/doc/spbench" README.md CHANGELOG.md LICENSE src/records/record.schema.json
	install -D -m 644 -t "$(AT)/share/doc/spbench/docs" docs/*.md
	@echo 'installed $(BUILD)/spbench as $(AT)/bin/spbench'
uninstall:
	rm -f "$(AT)/bin/spbench" "$(AT)/share/man/man1/spbench.1" "$(AT)/share/bash-completion/completions/spbench" "$(AT)/include/spbench_plugin.h"
	rm -rf "$(AT)/share/spbench" "$(AT)/share/doc/spbench"
