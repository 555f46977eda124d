// Replays the fuzzer's corpus, so that what it once found stays found. In the sanitized build a
// read out of bounds ends the program here.
#include <dirent.h>
#include <stdio.h>

#include "fuzz/fuzz_mtx.c"
#include "test.h"

static const char folder[] = "tests/fuzz/corpus";

static void replay(const char *name)
{
    char path[512];
    static uint8_t data[1 << 16];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL, "%s", path);
    if (!file) return;
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    fprintf(stderr, "%s\n", path); // the last line before a crash names its input
    CHECK(LLVMFuzzerTestOneInput(data, size) == 0, "%s", path);
    // What is cut off must be refused as well as the whole was.
    for (size_t cut = 1; cut < size; cut += 1 + size / 16)
        CHECK(LLVMFuzzerTestOneInput(data, size - cut) == 0, "%s, cut by %zu", path, cut);
}

int main(void)
{
    DIR *files = opendir(folder);
    int count = 0;
    for (struct dirent *d; files && (d = readdir(files));)
        if (d->d_name[0] != '.') replay(d->d_name), count++;
    if (files) closedir(files);
    CHECK(count >= 20, "%s has %d files; the program runs in the project's root", folder, count);
    return TEST_END();
}
