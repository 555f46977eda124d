# make            build ./spbench: with CUDA where nvcc is found, else for the CPU alone
# make demo       set up, build, measure a few matrices, draw figures into results/
# make test       set up, build, run every test that needs no GPU
# make gpu-test   the table of cases on this machine's GPU, then under compute-sanitizer
# make figures    RESULTS='*.jsonl': figures, captions, index page; OUT=folder; FIGURES=a,b: these alone;
#                 ALL_SETS=1: of every set of cases
# make install    PREFIX=/usr/local DESTDIR=: the program of this flavour, its manual page, completion,
#                 documents, plots and the script that fetches matrices; make uninstall removes them
# make rules      fit the rules of `auto` to the kept records: writes src/select/auto_rules.h
# make bench-mtx  speed of the Matrix Market reader
# make deps       install what make and make demo need; make clean: remove what was built
#
# CUDA=0 leaves CUDA out. EMU=1 compiles the .cu files with g++ for the emulator in tests/emu, all
# of it under AddressSanitizer and UBSan. SAN=1 does so for the CPU alone. ARCH="80 90" names GPUs.

MAKEFLAGS += -r # no built-in rules: they take 0.9 s of a make that has nothing to do

CUDA_HOME ?= $(patsubst %/bin/nvcc,%,$(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc)))
NVCC      := $(wildcard $(CUDA_HOME)/bin/nvcc)
CUDA      ?= $(if $(NVCC),1,0)
FLAVOUR   := $(if $(filter 1,$(EMU)),emu,$(if $(filter 1,$(SAN)),san,$(if $(filter 1,$(CUDA)),cuda,cpu)))
BUILD     := build/$(FLAVOUR)

VERSION   := 0.1.0
REVISION  := $(shell git describe --always --dirty 2>/dev/null || echo unknown)

SANITIZE  := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
WARN      := -Wall -Wextra -Wshadow
OPT       := $(if $(filter emu san,$(FLAVOUR)),-O1 -g1 $(SANITIZE),-O3 -g)
CFLAGS    ?= $(OPT)
CFLAGS_ALL   = -std=gnu11 $(WARN) -fopenmp -fno-math-errno $(CFLAGS) $(DEFINES)
CXXFLAGS_EMU = -std=c++17 $(WARN) -Wno-missing-field-initializers -Wno-unknown-pragmas $(CFLAGS) $(DEFINES) -Itests/emu
DEFINES   := $(if $(filter cuda,$(FLAVOUR)),-DSPBENCH_CUDA -DSPBENCH_CUSPARSE) \
             $(if $(filter emu,$(FLAVOUR)),-DSPBENCH_CUDA -DSPBENCH_EMU) -Isrc -Ikernels
LIBS      := -lcjson -lz -ldl -lm

# The GPU in this machine, else Ampere, Hopper and PTX for what comes after.
ifeq ($(FLAVOUR)$(ARCH),cuda)
ARCH      := $(or $(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | sort -u),80 90)
endif
GENCODE    = $(foreach a,$(ARCH),-gencode arch=compute_$(a),code=sm_$(a)) \
             -gencode arch=compute_$(lastword $(ARCH)),code=compute_$(lastword $(ARCH))
NVCCFLAGS ?= -O3 -lineinfo
NVCCFLAGS_ALL = -std=c++17 $(NVCCFLAGS) $(GENCODE) $(DEFINES) -Xcompiler "$(WARN) -Wno-missing-field-initializers"

C_SRC  := $(wildcard src/*/*.c src/*/*/*.c kernels/*/*.c kernels/*/*/*.c)
CU_SRC := $(wildcard src/*/*.cu kernels/*/*.cu kernels/*/*/*.cu)
ifeq ($(FLAVOUR),emu)
CU_SRC := $(filter-out %/cusparse.cu,$(CU_SRC)) $(wildcard tests/emu/*.cpp)
LINK    = g++ $(CFLAGS) -fopenmp
else ifeq ($(FLAVOUR),cuda)
LINK    = $(NVCC) $(GENCODE) -Xcompiler -fopenmp
LIBS   += -L$(CUDA_HOME)/lib64 -lcusparse -Xlinker -rpath,$(CUDA_HOME)/lib64
else
CU_SRC :=
LINK    = $(CC) $(CFLAGS) -fopenmp
endif
OBJ      := $(C_SRC:%=$(BUILD)/%.o) $(CU_SRC:%=$(BUILD)/%.o)
LIB_OBJ  := $(filter-out $(BUILD)/src/cli/main.c.o,$(OBJ))
TEST_SRC := $(wildcard tests/test_*.c) $(if $(filter emu,$(FLAVOUR)),$(wildcard tests/test_*.cpp))
TEST_OBJ := $(TEST_SRC:%=$(BUILD)/%.o) $(BUILD)/tests/bench_mtx.c.o
TEST_BIN := $(basename $(TEST_SRC:%=$(BUILD)/%))
FAKE_MKL  := $(BUILD)/tests/mkl/libmkl_rt.so
FAKE_NVML := $(BUILD)/tests/nvml/libnvidia-ml.so.1

# ./spbench is a link to the flavour that was built last.
.PHONY: all demo test tests gpu-test install uninstall figures rules bench-mtx deps clean FORCE
all: spbench
spbench: $(BUILD)/spbench $(if $(filter $(BUILD)/spbench,$(shell readlink spbench)),,FORCE)
	@ln -sfn $< $@

# Everything is rebuilt when the flags change.
FLAGS_NOW := $(CC) $(CFLAGS_ALL) | $(NVCC) $(NVCCFLAGS_ALL) | $(LIBS)
ifneq ($(FLAGS_NOW),$(file <$(BUILD)/flags))
$(shell mkdir -p $(BUILD))
$(file >$(BUILD)/flags,$(FLAGS_NOW))
endif
$(OBJ) $(TEST_OBJ): $(BUILD)/flags | $(BUILD)/checked

# Ahead of the first compilation a line names what is missing.
LACKING  = $(shell CC="$(CC)" FLAVOUR=$(FLAVOUR) tests/deps.sh missing)
KNOWN    = $(patsubst compute_%,%,$(shell $(NVCC) --list-gpu-arch 2>/dev/null))
UNKNOWN  = $(if $(KNOWN),$(filter-out $(KNOWN),$(ARCH)))
$(BUILD)/checked: $(BUILD)/flags
	$(if $(LACKING),$(error missing packages: $(LACKING); 'make deps' installs them))
ifeq ($(FLAVOUR),cuda)
	$(if $(NVCC),,$(error no nvcc in '$(CUDA_HOME)/bin': set CUDA_HOME=, or build with CUDA=0))
	$(if $(UNKNOWN),$(error nvcc does not build for $(UNKNOWN): set ARCH= to some of $(KNOWN), install another CUDA toolkit, or build with CUDA=0))
endif
	@touch $@

$(BUILD)/spbench: $(OBJ)
	$(LINK) -o $@ $^ $(LIBS)

# record_parts.c alone knows the version; it is rebuilt when the revision changes.
REVISION_FILE := $(BUILD)/revision
ifneq ($(REVISION),$(file <$(REVISION_FILE)))
$(shell mkdir -p $(BUILD))
$(file >$(REVISION_FILE),$(REVISION))
endif
$(BUILD)/src/records/record_parts.c.o: $(REVISION_FILE)
$(BUILD)/src/records/record_parts.c.o: DEFINES += -DSPBENCH_VERSION='"$(VERSION)"' -DSPBENCH_REVISION='"$(REVISION)"' \
    -DSPBENCH_FLAGS='"$(strip $(CFLAGS) $(if $(filter cuda,$(FLAVOUR)),| nvcc $(NVCCFLAGS) sm $(ARCH)))"'

# cache.c alone knows which reader this is, by its sources: what another one read is read again.
READER      := $(shell cat src/data/*.[ch] src/base/base.c src/base/mix.h src/base/hash.[ch] | cksum | tr -d ' ')
READER_FILE := $(BUILD)/reader
ifneq ($(READER),$(file <$(READER_FILE)))
$(shell mkdir -p $(BUILD))
$(file >$(READER_FILE),$(READER))
endif
$(BUILD)/src/data/cache.c.o: $(READER_FILE)
$(BUILD)/src/data/cache.c.o: DEFINES += -DSPBENCH_READER=$(READER)u

# The check on the device has sums with the bits of the host's: no product is fused into an addition.
$(BUILD)/src/device/product_cuda.cu.o: NVCCFLAGS_ALL += -fmad=false

$(BUILD)/%.c.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<
ifeq ($(FLAVOUR),emu)
$(BUILD)/%.cu.o: %.cu
	@mkdir -p $(@D)
	g++ $(CXXFLAGS_EMU) -MMD -MP -x c++ -c -o $@ $<
else
$(BUILD)/%.cu.o: %.cu
	@mkdir -p $(@D)
	$(NVCC) $(NVCCFLAGS_ALL) -MMD -MP -c -o $@ $<
endif
$(BUILD)/%.cpp.o: %.cpp
	@mkdir -p $(@D)
	g++ $(CXXFLAGS_EMU) -MMD -MP -c -o $@ $<

$(BUILD)/tests/%: $(BUILD)/tests/%.c.o $(LIB_OBJ)
	$(LINK) -o $@ $^ $(LIBS)
$(BUILD)/tests/%: $(BUILD)/tests/%.cpp.o $(LIB_OBJ)
	$(LINK) -o $@ $^ $(LIBS)
.PRECIOUS: $(BUILD)/%.c.o $(BUILD)/%.cpp.o # else a second `make tests` would build them again
# A library for tests: what the loader finds, and two parts that are only looked for.
$(FAKE_MKL): tests/fake_mkl.c tests/fake_mkl.h src/device/mkl.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -fPIC -shared -o $@ $<
	@touch $(@D)/libmkl_core.so $(@D)/libmkl_gnu_thread.so
$(BUILD)/tests/test_mkl: | $(FAKE_MKL)
$(FAKE_NVML): tests/fake_nvml.c src/device/nvml.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -fPIC -shared -Wl,-soname,$(@F) -o $@ $<
$(BUILD)/tests/test_doctor: | $(FAKE_NVML)
# The program with algorithms that crash, hang and so on, and a library for one of them.
SWEEP_TEST := $(BUILD)/tests/sweep/spbench $(BUILD)/tests/sweep/library.so
$(BUILD)/tests/sweep/algos.c.o: src/algos/algos.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL:-Isrc=-Itests/sweep -Isrc) -MMD -MP -c -o $@ $<
$(BUILD)/tests/sweep/planted.c.o: $(BUILD)/flags
$(BUILD)/tests/sweep/spbench: $(filter-out %/src/algos/algos.c.o,$(OBJ)) $(BUILD)/tests/sweep/algos.c.o $(BUILD)/tests/sweep/planted.c.o
	$(LINK) -o $@ $^ $(LIBS)
$(BUILD)/tests/sweep/library.so: tests/sweep/library.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -fPIC -shared -o $@ $<
tests: $(TEST_BIN) $(FAKE_MKL) $(FAKE_NVML) $(SWEEP_TEST)

# The demo builds for the CPU alone without a GPU: CUDA code takes minutes to compile and could not run.
DEMO_CUDA = $(if $(shell nvidia-smi -L 2>/dev/null | grep '^GPU'),,CUDA=0)
DEMO_JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
demo: deps
	@echo 'demo: build$(if $(DEMO_CUDA), for the CPU alone: no GPU was found (1 to 2 minutes), (several minutes))'
	@$(MAKE) -s --no-print-directory $(DEMO_JOBS) spbench $(DEMO_CUDA)
	@tests/demo.sh
test:
	@tests/deps.sh tests
	@tests/run.sh
gpu-test: $(BUILD)/spbench tests
	@tests/gpu.sh $(BUILD)
figures:
	@test -n "$(RESULTS)" || { echo "usage: make figures RESULTS='files.jsonl' [OUT=folder] [FIGURES=a,b] [ALL_SETS=1]"; exit 2; }
	python3 plots/all.py $(if $(OUT),-o $(OUT)) $(if $(FIGURES),-figures $(FIGURES)) $(if $(ALL_SETS),-all-sets) $(RESULTS)
rules:
	python3 tools/fit_auto.py -o src/select/auto_rules.h $(or $(RESULTS),results/h200/*.jsonl.gz results/epyc/*.jsonl.gz)
# Where things go. What is under share/spbench runs from there.
PREFIX ?= /usr/local
BIN    := $(DESTDIR)$(PREFIX)/bin
SHARE  := $(DESTDIR)$(PREFIX)/share
MAN    := $(SHARE)/man/man1
COMP   := $(SHARE)/bash-completion/completions
$(BUILD)/spbench.1: $(BUILD)/spbench
	$< man >$@.part && mv $@.part $@
$(BUILD)/spbench.bash: $(BUILD)/spbench
	$< completion bash >$@.part && mv $@.part $@
install: $(BUILD)/spbench $(BUILD)/spbench.1 $(BUILD)/spbench.bash
	install -d "$(BIN)" "$(MAN)" "$(COMP)" "$(SHARE)/spbench/plots" "$(SHARE)/doc/spbench/docs"
	install -m 755 $(BUILD)/spbench "$(BIN)/spbench"
	install -m 644 $(BUILD)/spbench.1 "$(MAN)/spbench.1"
	install -m 644 $(BUILD)/spbench.bash "$(COMP)/spbench"
	install -m 755 fetch_suitesparse.sh "$(SHARE)/spbench"
	install -m 644 matrices.txt "$(SHARE)/spbench"
	install -d "$(SHARE)/spbench/fetch"
	install -m 644 fetch/* "$(SHARE)/spbench/fetch"
	install -m 755 plots/*.py "$(SHARE)/spbench/plots"
	install -m 644 plots/page.* "$(SHARE)/spbench/plots"
	install -m 644 README.md LICENSE src/records/record.schema.json "$(SHARE)/doc/spbench"
	install -m 644 docs/*.md "$(SHARE)/doc/spbench/docs"
	@echo 'installed $(BUILD)/spbench as $(BIN)/spbench'
uninstall:
	rm -f "$(BIN)/spbench" "$(MAN)/spbench.1" "$(COMP)/spbench"
	rm -rf "$(SHARE)/spbench" "$(SHARE)/doc/spbench"
bench-mtx: $(BUILD)/tests/bench_mtx
	$<
deps:
	@CC="$(CC)" FLAVOUR=$(FLAVOUR) tests/deps.sh
clean:
	rm -rf build spbench

-include $(OBJ:.o=.d) $(TEST_OBJ:.o=.d) $(wildcard $(BUILD)/tests/sweep/*.d)
