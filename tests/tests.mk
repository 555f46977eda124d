# Tests: one program for each tests/FOLDER/test_NAME.c, in $(BUILD)/tests/FOLDER/test_NAME.
# make tests      build them in this flavour; make test and make gpu-test build and run
.PHONY: test tests gpu-test bench-mtx
TEST_SRC := $(wildcard tests/*/test_*.c) $(if $(filter emu,$(FLAVOUR)),$(wildcard tests/*/test_*.cpp))
TEST_OBJ := $(TEST_SRC:%=$(BUILD)/%.o) $(BUILD)/tests/data/bench_mtx.c.o
TEST_BIN := $(basename $(TEST_SRC:%=$(BUILD)/%))
$(TEST_OBJ): DEFINES += -Itests -Itests/lib
$(TEST_OBJ): $(BUILD)/flags | $(BUILD)/checked
LIB_OBJ  := $(filter-out $(BUILD)/src/cli/main.c.o,$(OBJ))
$(BUILD)/tests/%: $(BUILD)/tests/%.c.o $(LIB_OBJ)
	$(LINK) -o $@ $^ $(LIBS)
$(BUILD)/tests/%: $(BUILD)/tests/%.cpp.o $(LIB_OBJ)
	$(LINK) -o $@ $^ $(LIBS)
$(BUILD)/%.cpp.o: %.cpp
	@mkdir -p $(@D)
	g++ $(CXXFLAGS_EMU) -MMD -MP -c -o $@ $<
.PRECIOUS: $(BUILD)/%.c.o $(BUILD)/%.cpp.o # a second `make tests` builds nothing

# Libraries that tests load in place of a vendor's. The loader looks for two more files of MKL.
FAKE_MKL  := $(BUILD)/tests/mkl/libmkl_rt.so $(BUILD)/tests/mkl_old/libmkl_rt.so
FAKE_NVML := $(BUILD)/tests/nvml/libnvidia-ml.so.1
SHARED     = $(CC) $(CFLAGS_ALL) -Itests/lib -fPIC -shared
$(BUILD)/tests/mkl_old/libmkl_rt.so: DEFINES += -DFAKE_MKL_OLD
$(FAKE_MKL): tests/device/fake_mkl.c tests/lib/fake_mkl.h src/device/mkl.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(SHARED) -o $@ $<
	@touch $(@D)/libmkl_core.so $(@D)/libmkl_gnu_thread.so
$(BUILD)/tests/device/test_mkl: | $(FAKE_MKL)
$(FAKE_NVML): tests/doctor/fake_nvml.c src/device/nvml.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(SHARED) -Wl,-soname,$(@F) -o $@ $<
$(BUILD)/tests/doctor/test_doctor: | $(FAKE_NVML)

# The program with algorithms that crash, hang and so on (tests/sweep/algos/algos.def), and a library
# for one of them.
SWEEP_TEST := $(BUILD)/tests/sweep/spbench $(BUILD)/tests/sweep/library.so
$(BUILD)/tests/sweep/algos.c.o: src/algos/algos.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL:-Isrc=-Itests/sweep -Isrc) -MMD -MP -c -o $@ $<
$(BUILD)/tests/sweep/planted.c.o: $(BUILD)/flags
$(BUILD)/tests/sweep/spbench: $(filter-out %/src/algos/algos.c.o,$(OBJ)) $(BUILD)/tests/sweep/algos.c.o $(BUILD)/tests/sweep/planted.c.o
	$(LINK) -o $@ $^ $(LIBS)
$(BUILD)/tests/sweep/library.so: tests/sweep/library.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(SHARED) -o $@ $<

# Plug-ins, built like those of users: with the header alone, and without the flags of this flavour.
PLUGINS := $(patsubst %.c,$(BUILD)/%.so,$(filter-out tests/plugin/test_%,$(wildcard tests/plugin/*.c)))
$(BUILD)/tests/plugin/%.so: tests/plugin/%.c include/spbench_plugin.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 $(WARN) -Iinclude -fPIC -shared -o $@ $<

tests: $(TEST_BIN) $(FAKE_MKL) $(FAKE_NVML) $(SWEEP_TEST) $(PLUGINS)
test:
	@tests/deps.sh tests
	@tests/run.sh
gpu-test: $(BUILD)/spbench tests
	@tests/gpu.sh $(BUILD)
bench-mtx: $(BUILD)/tests/data/bench_mtx
	$<
-include $(TEST_OBJ:.o=.d) $(wildcard $(BUILD)/tests/sweep/*.d)
