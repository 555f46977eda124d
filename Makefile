# make            build ./spbench: with CUDA where nvcc is found, else for the CPU alone
# make demo       set up, build, measure a few matrices, draw figures into results/
# make test       set up, build, run every test that needs no GPU (tests/tests.mk)
# make gpu-test   the table of cases on this machine's GPU, then under compute-sanitizer
# make figures    RESULTS='*.jsonl' [OUT=folder] [FIGURES=a,b] [ALL_SETS=1]: figures and an index page
# make install    PREFIX=/usr/local DESTDIR=: program, manual page, completion, documents, plots, fetch script
# make container  [BASE=image] [CUDA=1] [ARCH="80 90"]: an image `spbench` by podman or docker (Containerfile)
# make uninstall, bench-mtx (speed of the reader), deps (packages for make and make demo), clean
#
# CUDA=0 leaves CUDA out. EMU=1 compiles the .cu files with g++ for the emulator in tests/emu, all
# of it under AddressSanitizer and UBSan. SAN=1 does so for the CPU alone. ARCH="80 90" names GPUs.
MAKEFLAGS += -r # built-in rules cost 0.9 s in every call
all: spbench

CUDA_HOME ?= $(patsubst %/bin/nvcc,%,$(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc)))
NVCC      := $(wildcard $(CUDA_HOME)/bin/nvcc)
CUDA      ?= $(if $(NVCC),1,0)
FLAVOUR   := $(if $(filter 1,$(EMU)),emu,$(if $(filter 1,$(SAN)),san,$(if $(filter 1,$(CUDA)),cuda,cpu)))
BUILD     := build/$(FLAVOUR)
VERSION   := 1.0.0
# Revision of the repository whose root is this folder, else the revision that git has written into
# an archive. A repository around the folder has another revision.
IN_GIT    := $(shell test "$$(git rev-parse --show-prefix 2>&1)" || echo 1)
REVISION  := $(or $(if $(IN_GIT),$(shell git describe --always --dirty 2>/dev/null)),\
             $(filter-out $$Format%,$(file <.revision)),unknown)

# Null pointers fault without a check. AddressSanitizer finds accesses outside an object.
# Without these checks and without PIE the code is smaller and compiles faster.
SANITIZE  := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer \
             -fno-sanitize=null,object-size,pointer-overflow,vptr -fno-pie -no-pie
WARN      := -Wall -Wextra -Wshadow
CFLAGS    ?= $(if $(filter emu san,$(FLAVOUR)),-O1 -g1 $(SANITIZE),-O3 -g)
CFLAGS_ALL   = -std=gnu11 $(WARN) -fopenmp -fno-math-errno $(CFLAGS) $(DEFINES)
CXXFLAGS_EMU = -std=c++17 $(WARN) -Wno-missing-field-initializers -Wno-unknown-pragmas $(CFLAGS) $(DEFINES) -Itests/emu
DEFINES   := $(if $(filter emu,$(FLAVOUR)),-DSPBENCH_EMU) -Isrc -Ikernels -Iinclude
LIBS      := -lcjson -lz -ldl -lm

# Without ARCH: the GPUs of this machine, else Ampere, Hopper and PTX for later ones.
HERE       = $(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | sort -u)
ARCH      := $(or $(ARCH),$(if $(filter cuda,$(FLAVOUR)),$(or $(HERE),80 90)))
GENCODE    = $(foreach a,$(ARCH),-gencode arch=compute_$(a),code=sm_$(a)) \
             -gencode arch=compute_$(lastword $(ARCH)),code=compute_$(lastword $(ARCH))
NVCCFLAGS ?= -O3 -lineinfo
NVCCFLAGS_ALL = -std=c++17 $(NVCCFLAGS) $(GENCODE) $(DEFINES) -Xcompiler "$(WARN) -Wno-missing-field-initializers"

C_SRC  := $(wildcard src/*/*.c src/*/*/*.c kernels/*/*.c kernels/*/*/*.c)
CU_SRC := $(wildcard src/*/*.cu kernels/*/*.cu kernels/*/*/*.cu)
COMPILE_CU = $(NVCC) $(NVCCFLAGS_ALL)
ifeq ($(FLAVOUR),emu)
$(BUILD)/tests/emu/emu.cpp.o: CFLAGS += -O2 # switches between threads of a block
CU_SRC := $(filter-out %/cusparse.cu %/cusparse_spmv.cu %/dense.cu,$(CU_SRC)) $(filter-out tests/emu/test_%,$(wildcard tests/emu/*.cpp))
COMPILE_CU = g++ $(CXXFLAGS_EMU) -x c++
LINK    = g++ $(CFLAGS) -fopenmp -rdynamic # plug-ins call the emulator
else ifeq ($(FLAVOUR),cuda)
LINK    = $(NVCC) $(GENCODE) -Xcompiler -fopenmp
LIBS   += -L$(CUDA_HOME)/lib64 -lcusparse -Xlinker -rpath,$(CUDA_HOME)/lib64
else
CU_SRC :=
LINK    = $(CC) $(CFLAGS) -fopenmp
endif
OBJ    := $(CU_SRC:%=$(BUILD)/%.o) $(C_SRC:%=$(BUILD)/%.o) # the longest first

# ./spbench is a link to the flavour that was built last.
.PHONY: all demo figures deps dist container clean FORCE
spbench: $(BUILD)/spbench $(if $(filter $(BUILD)/spbench,$(shell readlink spbench)),,FORCE)
	@ln -sfn $< $@
$(BUILD)/spbench: $(OBJ)
	$(LINK) -o $@ $^ $(LIBS)

# $(call changes,FILE,TEXT) writes TEXT into FILE unless FILE has TEXT: what depends on FILE is rebuilt.
changes = $(if $(subst x$2,,x$(file <$1))$(subst x$(file <$1),,x$2),$(shell mkdir -p $(BUILD))$(file >$1,$2))
$(call changes,$(BUILD)/flags,$(CC) $(CFLAGS_ALL) | $(NVCC) $(NVCCFLAGS_ALL) | $(LIBS))
$(call changes,$(BUILD)/revision,$(REVISION))
$(call changes,$(BUILD)/reader,$(shell cat src/data/*.[ch] src/base/random.c src/base/mix.h src/base/hash.[ch] | cksum | tr -d ' '))
$(OBJ): $(BUILD)/flags | $(BUILD)/checked
$(BUILD)/src/records/record_parts.c.o: $(BUILD)/revision
$(BUILD)/src/records/record_parts.c.o: DEFINES += -DSPBENCH_VERSION='"$(VERSION)"' -DSPBENCH_REVISION='"$(REVISION)"' \
    -DSPBENCH_FLAGS='"$(strip $(CFLAGS) $(if $(filter cuda,$(FLAVOUR)),| nvcc $(NVCCFLAGS) $(ARCH:%=sm_%)))"'
# The cache of parsed matrices belongs to the sources of the reader: their checksum is its version.
$(BUILD)/src/data/cache.c.o: $(BUILD)/reader
$(BUILD)/src/data/cache.c.o: DEFINES += -DSPBENCH_READER=$(file <$(BUILD)/reader)u
# Sums of the check on the device have the bits of the host's: no product is fused into an addition.
$(BUILD)/src/device/product_cuda.cu.o: NVCCFLAGS_ALL += -fmad=false

# Text of files that `new-kernel` writes.
$(BUILD)/src/plugin/plugin_new.c.o: $(wildcard include/templates/*) include/spbench_plugin.h

# Before the first compilation a line names what is missing.
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
$(BUILD)/%.c.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<
$(BUILD)/%.cu.o: %.cu
	@mkdir -p $(@D)
	$(COMPILE_CU) -MMD -MP -c -o $@ $<

# The demo builds for the CPU alone without a GPU: CUDA code takes minutes to compile and could not run.
DEMO_CUDA = $(if $(shell nvidia-smi -L 2>/dev/null | grep '^GPU'),,CUDA=0)
demo: deps
	@echo 'demo: build$(if $(DEMO_CUDA), for the CPU alone: no GPU was found (1 to 2 minutes), (several minutes))'
	@$(MAKE) -s --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc)) spbench $(DEMO_CUDA)
	@tests/demo.sh
figures:
	@test -n "$(RESULTS)" || { echo "usage: make figures RESULTS='files.jsonl' [OUT=folder] [FIGURES=a,b] [ALL_SETS=1]"; exit 2; }
	python3 plots/all.py $(if $(OUT),-o $(OUT)) $(if $(FIGURES),-figures $(FIGURES)) $(if $(ALL_SETS),-all-sets) $(RESULTS)
deps:
	@CC="$(CC)" FLAVOUR=$(FLAVOUR) tests/deps.sh
# A tarball of the last commit, which builds without git.
dist:
	git archive --prefix=spbench-$(VERSION)/ -o spbench-$(VERSION).tar.gz HEAD
# CUDA and ARCH count only on the command line: the machine that builds the image need not have the GPUs.
ENGINE = $(if $(shell command -v podman),podman,docker)
TAG   ?= spbench
given  = $(if $(filter command,$(origin $1)),--build-arg "$1=$($1)")
container:
	$(ENGINE) build -f Containerfile -t $(TAG) --build-arg "REVISION=$(REVISION)" $(foreach x,BASE CUDA ARCH,$(call given,$x)) .
clean:
	rm -rf build spbench

include tools/install.mk tests/tests.mk
-include $(OBJ:.o=.d)
